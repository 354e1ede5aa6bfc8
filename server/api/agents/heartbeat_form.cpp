#include "server/api/agents/heartbeat_form.hpp"

#include "core/utf8.hpp"
#include "http/message/json_members.hpp"
#include "http/message/json_reader.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <charconv>

namespace restante {

namespace {

constexpr std::string_view invalid_body = "invalid request body";
constexpr std::size_t max_text = 512;
constexpr double max_number = 1e12;

// What a string of JSON means; nothing when it is none. Hardly any has an escape, and none is copied without.
class plain_text {
public:
    explicit plain_text(std::string_view json)
    {
        if (json.find('\\') != std::string_view::npos)
            unescaped_ = json_string(json);
        else if (is_json_string(json))
            as_written_ = json.substr(1, json.size() - 2);
    }
    plain_text(const plain_text&) = delete;
    plain_text& operator=(const plain_text&) = delete;

    std::optional<std::string_view> view() const
    {
        return unescaped_ ? std::optional<std::string_view>(*unescaped_) : as_written_;
    }

private:
    std::optional<std::string> unescaped_;
    std::optional<std::string_view> as_written_;
};

bool is_number(std::string_view value)
{
    return value.front() == '-' || (value.front() >= '0' && value.front() <= '9');
}

// What is too large or too small for a double is left to the parser of everything else.
double number_of(std::string_view value)
{
    double number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec == std::errc())
        return number;
    boost::json::error_code ec;
    const auto parsed = boost::json::parse(value, ec);
    return !ec && parsed.is_number() ? parsed.to_number<double>() : 0;
}

// Takes the members as they come and remembers whether one of them was not what it should be. A tree of the
// body, for which each value would be allocated, costs more than the rest of a heartbeat.
class reader {
public:
    // What is null is absent, and members that are not known are passed over.
    void take(const json_member_text& member)
    {
        const plain_text key(member.key);
        const auto name = key.view();
        if (!name || member.value == "null")
            return;
        if (*name == "workspace_id")
            workspace_ = text(member.value);
        else if (*name == "id")
            other_ = member.value;
        else if (*name == "error_rate")
            report().error_rate = number(member.value, 1);
        else if (*name == "sample_error")
            report().sample_error = text(member.value);
        else if (*name == "active_tasks")
            report().active_tasks = static_cast<std::int64_t>(number(member.value, max_number));
        else if (*name == "uptime_seconds")
            form_.beat.uptime_seconds = static_cast<std::int64_t>(number(member.value, max_number));
        else if (*name == "current_task")
            report().current_task = text(member.value);
        else if (*name == "runtime_state")
            report().runtime_state = text(member.value);
        else if (*name == "agent_card" && is_json_object(member.value))
            form_.agent_card.emplace(member.value);
    }

    answerable<heartbeat_form> finish()
    {
        // An `id` beside a `workspace_id` is not looked at.
        const auto named = workspace_.empty() && !other_.empty() ? text(other_) : workspace_;
        if (!good_ || named.empty())
            return refusal(errc::bad_request, std::string(invalid_body));
        const auto id = parse_uuid(named);
        if (!id)
            return refusal(errc::invalid_workspace_id);
        form_.workspace = *id;
        return std::move(form_);
    }

private:
    agent_report& report() { return form_.beat.report; }

    // A zero character is legal JSON and cannot be stored.
    std::string text(std::string_view value)
    {
        const plain_text given(value);
        good_ = good_ && given.view();
        if (!given.view())
            return {};
        std::string cut(utf8_prefix(*given.view(), max_text));
        std::replace(cut.begin(), cut.end(), '\0', ' ');
        return cut;
    }

    double number(std::string_view value, double most)
    {
        good_ = good_ && is_number(value);
        const auto given = is_number(value) ? number_of(value) : 0;
        return given > 0 ? std::min(given, most) : 0;
    }

    heartbeat_form form_;
    std::string workspace_;
    std::string_view other_;  // JSON
    bool good_ = true;
};

}  // namespace

answerable<heartbeat_form> read_heartbeat(std::string_view body)
{
    if (!check_json(body))
        return refusal(errc::malformed_json, std::string(invalid_body));
    reader read;
    json_members members(body);
    while (const auto member = members.next())
        read.take(*member);
    return read.finish();
}

}  // namespace restante
