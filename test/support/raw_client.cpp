#include "test/support/raw_client.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace restante::test {

std::string raw_response::field(const std::string& name) const
{
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
}

raw_client::raw_client(std::uint16_t port, int patience)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{.tv_sec = patience, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const int at_once = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error("cannot connect to the test server");
}

raw_client::~raw_client()
{
    ::close(socket_);
}

bool raw_client::send(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void raw_client::finish_sending()
{
    ::shutdown(socket_, SHUT_WR);
}

void raw_client::reset()
{
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(socket_);
    socket_ = -1;
}

bool raw_client::fill()
{
    char block[65536];
    const auto got = at_end_ ? 0 : ::recv(socket_, block, sizeof block, 0);
    if (got <= 0) {
        at_end_ = true;
        return false;
    }
    buffer_.append(block, static_cast<std::size_t>(got));
    return true;
}

raw_response raw_client::receive(bool head_only)
{
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos)
        if (!fill())
            return {};
    raw_response answer;
    answer.status = std::stoi(buffer_.substr(9, 3));
    for (std::size_t at = buffer_.find("\r\n") + 2; at < end + 2;) {
        const auto line_end = buffer_.find("\r\n", at);
        const auto colon = buffer_.find(": ", at);
        auto name = buffer_.substr(at, colon - at);
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        answer.fields[name] = buffer_.substr(colon + 2, line_end - colon - 2);
        at = line_end + 2;
    }
    buffer_.erase(0, end + 4);
    if (head_only || !answer.fields.contains("content-length"))
        return answer;
    const auto length = std::stoul(answer.field("content-length"));
    while (buffer_.size() < length)
        if (!fill())
            break;
    answer.body = buffer_.substr(0, length);
    buffer_.erase(0, answer.body.size());
    return answer;
}

std::string raw_client::receive_rest()
{
    while (fill()) {
    }
    return std::exchange(buffer_, {});
}

}  // namespace restante::test
