#include "storage/doorbell_payload.hpp"

#include "core/decimal.hpp"

namespace restante {

namespace {

// <sender> then words of one letter and what it is about: t token revoked, r workspace removed, c workspace
// changed, a<workspace>=<seq> activity, * everything.
constexpr std::size_t uuid_length = 36;
constexpr std::size_t word_length = 2 + uuid_length;           // space, letter, id
constexpr std::size_t activity_length = word_length + 1 + 19;  // '=' and the longest number
constexpr std::size_t room = max_payload_bytes - 2;            // " *" always fits

void append_word(std::string& out, char letter, const uuid& about)
{
    out += ' ';
    out += letter;
    append_to(out, about);
}

void append_words(std::string& out, char letter, std::vector<uuid>& waiting)
{
    while (!waiting.empty() && out.size() + word_length <= room) {
        append_word(out, letter, waiting.back());
        waiting.pop_back();
    }
}

bool read_activity(std::string_view word, changes& into)
{
    if (word.size() < uuid_length + 2 || word[uuid_length] != '=')
        return false;
    const auto workspace = parse_uuid(word.substr(0, uuid_length));
    const auto seq = parse_signed_decimal(word.substr(uuid_length + 1));
    if (!workspace || !seq || *seq < 1)
        return false;
    into.activity[*workspace] = *seq;
    return true;
}

bool read_word(std::string_view word, changes& into)
{
    if (word == "*") {
        into.everything = true;
        return true;
    }
    if (word.empty())
        return false;
    const auto rest = word.substr(1);
    if (word[0] == 'a')
        return read_activity(rest, into);
    const auto about = parse_uuid(rest);
    if (!about)
        return false;
    switch (word[0]) {
        case 't': into.revoked_tokens.push_back(*about); return true;
        case 'c': into.changed_workspaces.push_back(*about); return true;
        case 'r': into.removed_workspaces.push_back(*about); return true;
        default: return false;
    }
}

}  // namespace

bool changes::empty() const
{
    return !everything && activity.empty() && revoked_tokens.empty() && changed_workspaces.empty() &&
           removed_workspaces.empty();
}

std::string write_payload(const uuid& sender, changes& waiting)
{
    auto out = to_string(sender);
    append_words(out, 't', waiting.revoked_tokens);
    append_words(out, 'r', waiting.removed_workspaces);
    append_words(out, 'c', waiting.changed_workspaces);
    if (waiting.everything || out.size() + waiting.activity.size() * activity_length > room) {
        out += " *";
    } else {
        for (const auto& [workspace, seq] : waiting.activity) {
            append_word(out, 'a', workspace);
            out += '=';
            out += std::to_string(seq);
        }
    }
    waiting.everything = false;
    waiting.activity.clear();
    return out;
}

std::optional<doorbell_payload> read_payload(std::string_view payload)
{
    const auto sender = parse_uuid(payload.substr(0, uuid_length));
    if (!sender)
        return std::nullopt;
    doorbell_payload read{*sender, {}};
    payload.remove_prefix(uuid_length);
    while (!payload.empty()) {
        if (payload[0] != ' ')
            return std::nullopt;
        payload.remove_prefix(1);
        const auto end = std::min(payload.find(' '), payload.size());
        if (!read_word(payload.substr(0, end), read.what))
            return std::nullopt;
        payload.remove_prefix(end);
    }
    return read;
}

}  // namespace restante
