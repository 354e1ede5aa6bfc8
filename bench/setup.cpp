#include "bench/setup.hpp"

#include "bench/crew.hpp"
#include "cli/config_values.hpp"
#include "core/ids.hpp"

namespace restante::bench {

namespace {

constexpr unsigned setup_connections = 16;

awaitable<void> take_share(const target& server, std::size_t& next, std::size_t count, const step& each)
{
    const executor ex = co_await asio::this_coro::executor;
    client link(ex, server);
    co_await open_or_fail(link, server);
    while (next < count) {
        const std::size_t mine = next++;
        co_await each(link, mine);
    }
}

}  // namespace

awaitable<void> open_or_fail(client& link, const target& server, const asio::ip::address& from)
{
    if (const auto ec = co_await link.open(from))
        throw failure("cannot connect to " + server.text() + ": " + in_words(ec));
}

awaitable<answer> demand(client& link, std::string_view request)
{
    const auto got = co_await link.exchange(request);
    if (got && got->ok())
        co_return *got;
    const auto asked = request.substr(0, request.find(" HTTP/"));
    throw failure(std::string(asked) + ": " + (got ? in_words(*got) : in_words(got.error())));
}

awaitable<void> share_out(const target& server, unsigned connections, std::size_t count, step each)
{
    const executor ex = co_await asio::this_coro::executor;
    crew all(ex);
    std::size_t next = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(connections, count); ++i)
        all.add(take_share(server, next, count, each));
    co_await all.done();
}

awaitable<std::vector<workspace>> register_workspaces(const surroundings& world, std::size_t count)
{
    std::vector<workspace> made(count);
    auto add = [&](client& link, std::size_t index) -> awaitable<void> {
        auto& mine = made[index];
        mine.id = to_string(make_uuid_v4());
        const auto request = registration_request(mine.id, world.given.admin_token);
        const auto got = co_await demand(link, request);
        mine.token = text_member(got.body, "auth_token");
        if (mine.token.empty())
            throw failure("registration gave no token: " + in_words(got));
        world.told.tell("registering workspaces: " + with_commas(index + 1) + " of " + with_commas(count));
    };
    const step each = std::ref(add);
    co_await share_out(world.server, setup_connections, count, each);
    co_return made;
}

awaitable<std::string> stage_file(client& link, const workspace& to, std::uint64_t bytes)
{
    const auto request = upload_request(to, bytes, 1);
    const auto got = co_await demand(link, request);
    std::string id(text_member(got.body, "file_id"));
    if (id.empty())
        throw failure("the upload's answer names no file: " + in_words(got));
    co_return id;
}

asio::ip::address source_address(const surroundings& world, std::size_t index)
{
    if (!world.server.endpoint.address().is_v4() || !world.server.endpoint.address().is_loopback())
        return {};
    const auto last = static_cast<unsigned char>(1 + index % world.given.addresses);
    return asio::ip::address_v4({127, 0, 0, last});
}

std::uint64_t read_size(const std::string& argument)
{
    const auto bytes = parse_size(argument);
    if (!bytes || *bytes <= 0)
        throw failure("a size like 10KiB is expected after the colon, not " + in_quotes(argument));
    return static_cast<std::uint64_t>(*bytes);
}

std::string size_in_words(std::uint64_t bytes)
{
    constexpr std::uint64_t million = 1'000'000;
    if (bytes % million == 0)
        return std::to_string(bytes / million) + " MB";
    auto words = format_size(bytes);
    return words.insert(words.find_first_not_of("0123456789"), " ");
}

std::size_t read_count(const std::string& argument)
{
    const auto count = parse_whole_number(argument);
    if (!count || *count <= 0 || *count > 1'000'000)
        throw failure("a number like 1000 is expected after the colon, not " + in_quotes(argument));
    return static_cast<std::size_t>(*count);
}

std::string in_words(const error_code& ec)
{
    if (ec == asio::error::timed_out)
        return "no answer within the limit (--timeout)";
    if (ec == asio::error::eof)
        return "the server closed the connection";
    return ec.message();
}

std::string in_words(const answer& got)
{
    return "status " + std::to_string(got.status) + " " + std::string(got.body.substr(0, 300));
}

}  // namespace restante::bench
