#include "storage/upload_events.hpp"

#include "core/encoding.hpp"
#include "core/json_text.hpp"
#include "core/log.hpp"

namespace restante {

namespace {

constexpr std::string_view payload_begin = R"({"file_id":)";

std::string_view event_name(upload_state reached)
{
    switch (reached) {
        case upload_state::fetched: return "UPLOAD_FETCHED";
        case upload_state::acked: return "UPLOAD_ACKED";
        case upload_state::expired: return "UPLOAD_EXPIRED";
        case upload_state::staged: break;  // ACTIVITY_LOGGED tells of it
    }
    return "";
}

}  // namespace

std::string_view to_string(upload_state state)
{
    switch (state) {
        case upload_state::staged: return "staged";
        case upload_state::fetched: return "fetched";
        case upload_state::acked: return "acked";
        case upload_state::expired: return "expired";
    }
    return "";
}

upload_state state_of(bool fetched, bool acked, bool past_expiry)
{
    if (acked)
        return upload_state::acked;
    if (past_expiry)
        return upload_state::expired;
    return fetched ? upload_state::fetched : upload_state::staged;
}

std::int64_t progress_of(upload_state state)
{
    switch (state) {
        case upload_state::staged: return 0;
        case upload_state::fetched: return 1;
        case upload_state::acked:
        case upload_state::expired: return 2;
    }
    return 0;
}

live_event make_upload_event(upload_state reached, const upload_change& what)
{
    std::string payload;
    append_member(payload, payload_begin, what.file);
    append_member(payload, R"(,"name":)", what.filename);
    append_member(payload, R"(,"size":)", what.size);
    append_member(payload, R"(,"sha256":)", to_hex(what.sha256));
    append_member(payload, R"(,"at":)", what.at);
    payload += '}';
    return {.workspace = what.workspace,
            .name = std::string(event_name(reached)),
            .payload = std::move(payload),
            .at = what.at,
            .staged_by = what.staged_by};
}

void tell_upload_changes(live_event_listener* listener, upload_state reached,
                         const std::vector<upload_change>& changes) noexcept
try {
    if (!listener)
        return;
    for (const auto& change : changes)
        listener->on_live_event(std::make_shared<const live_event>(make_upload_event(reached, change)));
} catch (const std::exception& e) {
    // A hint: whoever waits for it finds the state when it next asks the database.
    log_line(log_level::error, "event_lost").field("error", e.what());
}

std::optional<upload_news> read_upload_event(const live_event& event)
{
    constexpr std::size_t uuid_length = 36;
    for (const auto reached : {upload_state::fetched, upload_state::acked, upload_state::expired}) {
        if (event.name != event_name(reached) || !event.payload.starts_with(payload_begin))
            continue;
        const auto quoted = std::string_view(event.payload).substr(payload_begin.size());
        const auto file = parse_uuid(quoted.substr(std::min<std::size_t>(1, quoted.size()), uuid_length));
        return file ? std::optional(upload_news{*file, reached}) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace restante
