#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace restante::test {

// One connection that a scripted_server has accepted, with blocking calls that give up after 5 s.
class accepted_socket {
public:
    explicit accepted_socket(int descriptor) : socket_(descriptor) {}
    accepted_socket(const accepted_socket&) = delete;
    accepted_socket& operator=(const accepted_socket&) = delete;
    ~accepted_socket();

    void send(std::string_view bytes);
    // Everything up to and including the mark; what was read beyond it is kept for the next call.
    std::string read_until(std::string_view mark);
    std::string read(std::size_t count);
    // What comes until the other side ends.
    std::string read_rest();
    void reset();

private:
    bool fill();

    int socket_;
    std::string buffer_;
};

// A server on a free loopback port that does to each connection what the test says, one after the other.
class scripted_server {
public:
    explicit scripted_server(std::function<void(accepted_socket&, int index)> script);
    ~scripted_server();

    std::uint16_t port() const { return port_; }
    int accepted() const { return accepted_; }

private:
    void run();

    std::function<void(accepted_socket&, int)> script_;
    std::uint16_t port_ = 0;
    int listener_;  // after port_, which opening it sets
    std::atomic<int> accepted_ = 0;
    std::thread thread_;
};

}  // namespace restante::test
