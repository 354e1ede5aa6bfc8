#include "bench/requests.hpp"

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <openssl/rand.h>

#include <sstream>

namespace restante::bench {

namespace {

namespace http = boost::beast::http;
using request = http::request<http::string_body>;

std::string bytes_of(request& made)
{
    made.set(http::field::host, "localhost");
    if (made.method() == http::verb::post)
        made.prepare_payload();
    std::ostringstream out;
    out << made;
    return std::move(out).str();
}

request for_workspace(http::verb method, const workspace& whose, const std::string& rest)
{
    request made(method, "/workspaces/" + whose.id + rest, 11);
    made.set(http::field::authorization, "Bearer " + whose.token);
    return made;
}

// Random, so that nothing can compress them.
std::string random_bytes(std::uint64_t count)
{
    std::string made(count, '\0');
    RAND_bytes(reinterpret_cast<unsigned char*>(made.data()), static_cast<int>(count));
    return made;
}

}  // namespace

std::string registration_request(std::string_view workspace_id, std::string_view admin_token)
{
    request made(http::verb::post, "/registry/register", 11);
    made.set(http::field::content_type, "application/json");
    if (!admin_token.empty())
        made.set(http::field::authorization, "Bearer " + std::string(admin_token));
    made.body() =
        R"({"delivery_mode":"poll","agent_card":{"name":"bench"},"id":")" + std::string(workspace_id) + "\"}";
    return bytes_of(made);
}

std::string upload_request(const workspace& to, std::uint64_t bytes, unsigned files)
{
    auto made = for_workspace(http::verb::post, to, "/chat/uploads");
    made.set(http::field::content_type, "multipart/form-data; boundary=restante-bench");
    std::string& form = made.body();
    for (unsigned i = 1; i <= files; ++i) {
        form += "--restante-bench\r\nContent-Disposition: form-data; name=\"files\"; filename=\"file" +
                std::to_string(i) + ".bin\"\r\nContent-Type: application/octet-stream\r\n\r\n" +
                random_bytes(bytes) + "\r\n";
    }
    form += "--restante-bench--\r\n";
    return bytes_of(made);
}

std::string fetch_request(const workspace& of, std::string_view file_id)
{
    auto made = for_workspace(http::verb::get, of, "/pending-uploads/" + std::string(file_id) + "/content");
    return bytes_of(made);
}

std::string poll_request(const workspace& of, std::uint64_t seq, unsigned wait_seconds)
{
    std::string query = "/activity?since_seq=" + std::to_string(seq) + "&limit=100";
    if (wait_seconds > 0)
        query += "&wait=" + std::to_string(wait_seconds);
    auto made = for_workspace(http::verb::get, of, query);
    return bytes_of(made);
}

std::string heartbeat_request(const workspace& of)
{
    request made(http::verb::post, "/registry/heartbeat", 11);
    made.set(http::field::content_type, "application/json");
    made.set(http::field::authorization, "Bearer " + of.token);
    made.body() = R"({"workspace_id":")" + of.id +
                  R"(","error_rate":0.0,"sample_error":"","active_tasks":0,"uptime_seconds":60})";
    return bytes_of(made);
}

std::string plain_request(std::string_view path)
{
    request made(http::verb::get, std::string(path), 11);
    return bytes_of(made);
}

}  // namespace restante::bench
