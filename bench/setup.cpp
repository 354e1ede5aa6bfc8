#include "bench/setup.hpp"

#include "bench/wait_group.hpp"
#include "cli/config_values.hpp"
#include "core/ids.hpp"

namespace restante::bench {

namespace {

constexpr unsigned setup_connections = 16;

awaitable<void> run_steps(const target& server, std::size_t& next, std::size_t count, const step& each)
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
        throw failure("cannot connect to " + server.text() + ": " + describe(ec));
}

awaitable<answer> exchange_or_fail(client& link, std::string_view request)
{
    const auto got = co_await link.exchange(request);
    if (got && got->ok())
        co_return *got;
    const auto asked = request.substr(0, request.find(" HTTP/"));
    throw failure(std::string(asked) + ": " + (got ? describe(*got) : describe(got.error())));
}

awaitable<void> distribute(const target& server, unsigned connections, std::size_t count, step each)
{
    const executor ex = co_await asio::this_coro::executor;
    wait_group all(ex);
    std::size_t next = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(connections, count); ++i)
        all.add(run_steps(server, next, count, each));
    co_await all.wait();
}

awaitable<std::vector<workspace>> register_workspaces(const scenario_context& context, std::size_t count)
{
    std::vector<workspace> made(count);
    auto add = [&](client& link, std::size_t index) -> awaitable<void> {
        auto& mine = made[index];
        mine.id = to_string(make_uuid_v4());
        const auto request = registration_request(mine.id, context.opts.admin_token);
        const auto got = co_await exchange_or_fail(link, request);
        mine.token = text_member(got.body, "auth_token");
        if (mine.token.empty())
            throw failure("registration returned no token: " + describe(got));
        context.progress.show("registering workspaces: " + with_commas(index + 1) + " of " +
                              with_commas(count));
    };
    const step each = std::ref(add);
    co_await distribute(context.server, setup_connections, count, each);
    co_return made;
}

awaitable<std::string> stage_file(client& link, const workspace& to, std::uint64_t bytes)
{
    const auto request = upload_request(to, bytes, 1);
    const auto got = co_await exchange_or_fail(link, request);
    std::string id(text_member(got.body, "file_id"));
    if (id.empty())
        throw failure("the upload's answer contains no file id: " + describe(got));
    co_return id;
}

asio::ip::address source_address(const scenario_context& context, std::size_t index)
{
    if (!context.server.endpoint.address().is_v4() || !context.server.endpoint.address().is_loopback())
        return {};
    const auto last = static_cast<unsigned char>(1 + index % context.opts.addresses);
    return asio::ip::address_v4({127, 0, 0, last});
}

std::uint64_t read_size(const std::string& argument)
{
    const auto bytes = parse_size(argument);
    if (!bytes || *bytes <= 0)
        throw failure("a size like 10KiB is expected after the colon, not " + in_quotes(argument));
    return static_cast<std::uint64_t>(*bytes);
}

std::string describe_size(std::uint64_t bytes)
{
    constexpr std::uint64_t million = 1'000'000;
    if (bytes % million == 0)
        return std::to_string(bytes / million) + " MB";
    auto text = format_size(bytes);
    return text.insert(text.find_first_not_of("0123456789"), " ");
}

std::size_t read_count(const std::string& argument)
{
    const auto count = parse_whole_number(argument);
    if (!count || *count <= 0 || *count > 1'000'000)
        throw failure("a number like 1000 is expected after the colon, not " + in_quotes(argument));
    return static_cast<std::size_t>(*count);
}

std::string describe(const error_code& ec)
{
    if (ec == asio::error::timed_out)
        return "no answer within the limit (--timeout)";
    if (ec == asio::error::eof)
        return "the server closed the connection";
    return ec.message();
}

std::string describe(const answer& got)
{
    return "status " + std::to_string(got.status) + " " + std::string(got.body.substr(0, 300));
}

}  // namespace restante::bench
