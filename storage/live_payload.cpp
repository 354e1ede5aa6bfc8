#include "storage/live_payload.hpp"

#include "core/decimal.hpp"
#include "storage/doorbell_payload.hpp"

#include <algorithm>

namespace restante {

namespace {

// The sender's id, a line with # and its number, then a line for each event: workspace, the token that staged
// the file or "-", the time in microseconds, name, payload. None but the last holds a blank.
constexpr std::size_t uuid_length = 36;
constexpr std::string_view number_mark = "\n#";

std::string line_of(const live_event& what, std::string_view payload)
{
    std::string out = "\n";
    append_to(out, what.workspace);
    out += ' ';
    if (what.staged_by)
        append_to(out, *what.staged_by);
    else
        out += '-';
    out += ' ';
    out += std::to_string(what.at.time_since_epoch().count());
    out += ' ';
    out += what.name;
    out += ' ';
    out += payload;
    return out;
}

// Splits off the text before the next blank.
std::string_view take_word(std::string_view& from)
{
    const auto end = std::min(from.find(' '), from.size());
    const auto word = from.substr(0, end);
    from.remove_prefix(std::min(end + 1, from.size()));
    return word;
}

std::shared_ptr<const live_event> read_line(std::string_view line)
{
    const auto workspace = parse_uuid(take_word(line));
    const auto staged_by = take_word(line);
    const auto at = parse_signed_decimal(take_word(line));
    const auto name = take_word(line);
    const auto token = parse_uuid(staged_by);
    if (!workspace || !at || name.empty() || line.empty() || (!token && staged_by != "-"))
        return nullptr;
    return std::make_shared<const live_event>(live_event{.workspace = *workspace,
                                                         .name = std::string(name),
                                                         .payload = std::string(line),
                                                         .at = timestamp(std::chrono::microseconds(*at)),
                                                         .staged_by = token});
}

}  // namespace

std::string write_live_payload(const uuid& sender, std::int64_t number,
                               std::deque<std::shared_ptr<const live_event>>& waiting)
{
    auto out = to_string(sender);
    out += number_mark;
    out += std::to_string(number);
    const auto empty = out.size();
    while (!waiting.empty()) {
        auto line = line_of(*waiting.front(), waiting.front()->payload);
        if (out.size() == empty && out.size() + line.size() > max_payload_bytes)
            line = line_of(*waiting.front(), "{}");
        if (out.size() + line.size() > max_payload_bytes)
            break;
        out += line;
        waiting.pop_front();
    }
    return out;
}

std::optional<live_payload> read_live_payload(std::string_view payload)
{
    const auto sender = parse_uuid(payload.substr(0, uuid_length));
    if (!sender)
        return std::nullopt;
    live_payload read{.sender = *sender};
    payload.remove_prefix(uuid_length);
    while (!payload.empty()) {
        payload.remove_prefix(1);
        const auto end = std::min(payload.find('\n'), payload.size());
        const auto line = payload.substr(0, end);
        if (line.starts_with(number_mark.back()))
            read.number = parse_signed_decimal(line.substr(1)).value_or(0);
        else if (auto event = read_line(line))
            read.events.push_back(std::move(event));
        payload.remove_prefix(end);
    }
    return read;
}

bool delivered_payloads::add(const live_payload& received)
{
    if (received.number == 0)
        return true;
    if (last_.size() >= most_senders && !last_.contains(received.sender))
        last_.clear();
    auto& last = last_[received.sender];
    if (received.number <= last)
        return false;
    last = received.number;
    return true;
}

}  // namespace restante
