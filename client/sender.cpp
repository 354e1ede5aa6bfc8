#include "client/sender.hpp"

#include "client/backoff.hpp"
#include "client/json_member.hpp"
#include "client/multipart_body.hpp"
#include "client/terminal_text.hpp"
#include "core/ids.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace restante::client {

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

constexpr auto time_for_answer = std::chrono::minutes(2);
constexpr auto time_for_message = std::chrono::seconds(60);
constexpr int longest_wait = 50;  // seconds

awaitable<void> sleep_for(milliseconds time)
{
    steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(use_await);
}

outcome<json::array> parse_staged(const answer& got, std::size_t count)
{
    boost::system::error_code ec;
    auto parsed = json::parse(got.body, ec);
    auto* object = ec ? nullptr : parsed.if_object();
    auto* files = object ? object->if_contains("files") : nullptr;
    const bool good = files && files->is_array() && files->get_array().size() == count &&
                      std::all_of(files->get_array().begin(), files->get_array().end(),
                                  [](const auto& each) { return each.is_object(); });
    if (!good)
        return failure{exit_code::failed, "bad_answer", "The server has not said what it stored."};
    return std::move(files->get_array());
}

// A server that takes less in one request than others says how much; each file may fit by itself.
bool takes_less(const failure& why, std::uint64_t& most_bytes)
{
    const auto* most = why.code == "request_too_large" ? why.details.if_contains("max") : nullptr;
    if (!most || !most->is_int64() || most->get_int64() < 0 ||
        static_cast<std::uint64_t>(most->get_int64()) >= most_bytes)
        return false;
    most_bytes = static_cast<std::uint64_t>(most->get_int64());
    return true;
}

bool is_reached(std::string_view state, std::string_view wanted)
{
    return state == "acked" || (wanted == "fetched" && state == "fetched");
}

}  // namespace

std::string make_message(const std::string& text, const json::array& files, const std::string& id)
{
    json::array parts;
    parts.push_back(json::object{{"kind", "text"}, {"text", text}});
    for (const auto& each : files) {
        const auto& file = each.get_object();
        json::object named{{"uri", text_member(file, "uri")}, {"name", text_member(file, "name")}};
        if (const auto type = text_member(file, "mimeType"); !type.empty())
            named["mimeType"] = type;
        parts.push_back(json::object{{"kind", "file"}, {"file", std::move(named)}});
    }
    json::object message{{"role", "user"}, {"messageId", id}, {"parts", std::move(parts)}};
    return json::serialize(json::object{{"jsonrpc", "2.0"},
                                        {"id", id},
                                        {"method", "message/send"},
                                        {"params", json::object{{"message", std::move(message)}}}});
}

sender::sender(executor ex, const settings& config, server_api& api, worker_pool& workers, reporter& out)
    : executor_(ex), config_(config), api_(api), workers_(workers), out_(out)
{
}

awaitable<exit_code> sender::run(const std::vector<outgoing_file>& files)
{
    auto done = co_await send_all(files);
    out_.progress().erase();
    if (done)
        co_return exit_code::done;
    co_return out_.fail(done.error());
}

awaitable<outcome<void>> sender::send_all(const std::vector<outgoing_file>& files)
{
    std::vector<std::uint64_t> sizes;
    for (const auto& file : files) {
        sizes.push_back(file.size);
        ++rest_.files;
        rest_.bytes += file.size;
    }
    if (!config_.message.empty())
        if (auto may = co_await may_send_message(); !may)
            co_return may;
    std::span<const outgoing_file> rest(files);
    for (auto most_bytes = usual_request_bytes; !rest.empty();) {
        const auto count = batch_sizes(sizes, most_bytes).front();
        const auto sent = co_await send_batch(rest.first(count));
        if (!sent && count > 1 && takes_less(sent.error(), most_bytes)) {
            // The limit of a grant is one of everything that is sent with it: not all of this would arrive.
            const auto facts = co_await ask_for_token_facts();
            if (!facts || facts->scope != "grant")
                continue;
        }
        if (!sent)
            co_return sent;
        rest = rest.subspan(count);
        sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (!config_.message.empty())
        if (auto sent = co_await send_message(); !sent)
            co_return sent;
    if (config_.wait != "staged")
        co_return co_await wait_for_receipts();
    co_return outcome<void>();
}

awaitable<outcome<void>> sender::send_batch(std::span<const outgoing_file> files)
{
    // One key for all tries: whichever of them the server has carried out, the files are stored once.
    const auto key = to_string(make_uuid_v4());
    const attempt once = [&] { return upload_once(files, key); };
    const auto got = co_await until_decided(once, "sending");
    if (!got) {
        auto why = got.error();
        if (why.code == "grant_exhausted")
            why.text += co_await what_is_left();
        co_return why;
    }
    auto stored = parse_staged(*got, files.size());
    if (!stored)
        co_return stored.error();
    for (std::size_t i = 0; i < stored->size(); ++i) {
        const auto& each = (*stored)[i].get_object();
        const auto digest = text_member(each, "sha256");
        if (!digest.empty() && i < digests_.size() && digest != digests_[i])
            co_return failure{exit_code::failed, "digest_mismatch",
                              "The server has stored other bytes of " + files[i].name + " than were sent."};
        out_.data("staged", each, printable(text_member(each, "uri")));
        staged_.push_back(each);
    }
    for (const auto& file : files) {
        ++sent_.files;
        sent_.bytes += file.size;
        --rest_.files;
        rest_.bytes -= file.size;
    }
    co_return outcome<void>();
}

awaitable<outcome<answer>> sender::upload_once(std::span<const outgoing_file> files, const std::string& key)
{
    out_.progress().set_finished(sent_);
    out_.progress().set_waiting(rest_);
    multipart_body body(files, "restante-" + to_string(make_uuid_v4()), workers_, out_.progress());
    auto what = api_.make_request(server_api::http_verb::post, "/workspaces/" + config_.to + "/chat/uploads");
    what.fields.push_back({"Content-Type", body.content_type()});
    what.fields.push_back({"Idempotency-Key", key});
    const client_limits limits{.whole = std::chrono::hours(24), .head = time_for_answer};
    const auto one = api_.begin(limits);
    const auto ec = co_await one->send(std::move(what), &body);
    if (ec == errc::io_error)
        co_return failure{exit_code::failed, "file_changed",
                          "A file has become shorter while it was being sent."};
    if (ec)
        co_return network_failure(ec, config_.server);
    digests_ = body.digests();
    co_return co_await read_answer(*one);
}

awaitable<outcome<answer>> sender::until_decided(const attempt& once, std::string_view what)
{
    backoff pause;
    std::optional<clock::time_point> first_failure;  // what came before it may have taken as long as it likes
    for (;;) {
        const auto used = api_.token_generation();
        auto got = co_await once();
        if (got && got->ok()) {
            api_.token_worked();
            co_return got;
        }
        auto why = got ? failure_of(*got, what) : got.error();
        if (why.exit == exit_code::unauthorized && co_await api_.refresh_token(used, why))
            continue;
        if (!why.transient)
            co_return why;
        if (!first_failure)
            first_failure = clock::now();
        const auto wait = pause.next(why.retry_after);
        if (clock::now() + wait - *first_failure > config_.give_up_after) {
            why.exit = exit_code::gave_up;
            why.text += " Gave up.";
            co_return why;
        }
        out_.trouble("retry", why, {{"wait_ms", wait.count()}}, trying_again(wait));
        co_await sleep_for(wait);
    }
}

// Nothing when the server does not say it: an older one, or in trouble.
awaitable<std::optional<token_facts>> sender::ask_for_token_facts()
{
    const auto got = co_await api_.get("/token", time_for_message);
    if (!got || !got->ok())
        co_return std::nullopt;
    auto facts = parse_token_facts(got->body);
    co_return facts ? std::optional(*std::move(facts)) : std::nullopt;
}

// A sentence about the grant that this was sent with.
awaitable<std::string> sender::what_is_left()
{
    const auto facts = co_await ask_for_token_facts();
    co_return facts && !facts->left.empty() ? ": " + facts->left + " are left" : "";
}

// Files that are staged with a grant use it up, and it is good for nothing else. Whatever else is wrong, the
// upload finds out.
awaitable<outcome<void>> sender::may_send_message()
{
    const auto facts = co_await ask_for_token_facts();
    if (facts && facts->scope == "grant")
        co_return failure{
            exit_code::unauthorized, "insufficient_scope",
            "An upload grant sends files and no message: nothing was sent. Leave --message out."};
    co_return outcome<void>();
}

awaitable<outcome<void>> sender::send_message()
{
    const auto id = to_string(make_uuid_v4());
    const auto body = make_message(config_.message, staged_, id);
    // The server gives an agent's answer as it is, which is a JSON object or nothing.
    const attempt once = [&]() -> awaitable<outcome<answer>> {
        auto got = co_await api_.post("/workspaces/" + config_.to + "/a2a", body, time_for_message, id);
        if (got && got->ok() && !got->body.empty() && !is_object(*got))
            co_return bad_answer("sending the message: the server has not said that it has it.");
        co_return got;
    };
    const auto got = co_await until_decided(once, "sending the message");
    if (!got)
        co_return got.error();
    out_.note("message_sent", {{"message_id", id}}, "");
    co_return outcome<void>();
}

awaitable<outcome<void>> sender::wait_for_receipts()
{
    for (const auto& each : staged_) {
        const std::string id(text_member(each.get_object(), "file_id"));
        const std::string name(text_member(each.get_object(), "name"));
        if (id.empty())
            co_return failure{exit_code::refused, "no_receipts",
                              "The server gives no receipts for files of this workspace."};
        for (;;) {
            const auto asked = clock::now();
            const auto reached = co_await ask_for_receipt(id, name);
            if (!reached)
                co_return reached.error();
            if (*reached)
                break;
            // A server that does not hold the request must not be asked without end.
            if (clock::now() - asked < std::chrono::seconds(1))
                co_await sleep_for(std::chrono::seconds(1));
        }
    }
    co_return outcome<void>();
}

awaitable<outcome<bool>> sender::ask_for_receipt(const std::string& file_id, const std::string& name)
{
    const auto path = "/workspaces/" + config_.to + "/uploads/" + file_id +
                      "?wait=" + std::to_string(longest_wait) + "&until=" + config_.wait;
    const attempt once = [&] { return api_.get(path, std::chrono::seconds(longest_wait + 30)); };
    const auto got = co_await until_decided(once, "asking for the receipt of " + printable(name));
    if (!got && got.error().code == "no_such_route")
        co_return failure{
            exit_code::refused, "no_receipts",
            "This server gives no receipts: the files are staged, but it cannot say when they are " +
                config_.wait + '.'};
    if (!got)
        co_return got.error();
    boost::system::error_code ec;
    const auto parsed = json::parse(got->body, ec);
    if (ec || !parsed.is_object())
        co_return failure{exit_code::failed, "bad_answer", "The server's receipt cannot be understood."};
    const std::string state(text_member(parsed.get_object(), "state"));
    if (state == "expired")
        co_return failure{exit_code::failed, "expired",
                          printable(name) + " has expired before it was acked."};
    if (!is_reached(state, config_.wait))
        co_return false;
    out_.note(state, parsed.get_object(), printable(name) + " was " + state + '.');
    co_return true;
}

}  // namespace restante::client
