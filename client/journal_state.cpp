#include "client/journal_state.hpp"

namespace restante::client {

namespace {

constexpr std::size_t id_size = 36;

std::string make_line(std::string_view what, const uuid& id, std::string_view rest = {})
{
    std::string line(what);
    line += ' ';
    append_to(line, id);
    if (!rest.empty())
        line.append(" ").append(rest);
    return line += '\n';
}

}  // namespace

std::optional<uuid> journal_state::recent_ids::add(const uuid& id)
{
    if (!known_.insert(id).second)
        return std::nullopt;
    order_.push_back(id);
    if (order_.size() <= most)
        return std::nullopt;
    const auto oldest = order_.front();
    order_.pop_front();
    known_.erase(oldest);
    return oldest;
}

void journal_state::read(std::string_view text)
{
    for (;;) {
        const auto end = text.find('\n');
        if (end == std::string_view::npos)
            return;
        apply(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
}

void journal_state::apply(std::string_view line)
{
    const auto space = line.find(' ');
    if (space == std::string_view::npos)
        return;
    const auto what = line.substr(0, space);
    const auto id = parse_uuid(line.substr(space + 1, id_size));
    const auto rest = line.substr(std::min(line.size(), space + 1 + id_size));
    if (!id)
        return;
    if (what == "placing" && rest.size() > 1 && rest.front() == ' ') {
        names_[*id] = rest.substr(1);
        if (const auto forgotten = files_.add(*id))
            names_.erase(*forgotten);
    } else if (!rest.empty()) {
        return;
    } else if (what == "ran") {
        ran_.add(*id);
    } else if (what == "row") {
        rows_.add(*id);
    } else if (what == "cursor") {
        cursor_ = *id;
    }
}

std::optional<std::string> journal_state::placed_name(const uuid& file) const
{
    const auto at = names_.find(file);
    return at == names_.end() ? std::nullopt : std::optional(at->second);
}

std::string journal_state::text() const
{
    std::string out;
    for (const auto& file : files_.order())
        out += placing_line(file, names_.at(file));
    for (const auto& file : ran_.order())
        out += ran_line(file);
    for (const auto& row : rows_.order())
        out += row_line(row);
    if (cursor_)
        out += cursor_line(*cursor_);
    return out;
}

std::string placing_line(const uuid& file, std::string_view name)
{
    return make_line("placing", file, name);
}

std::string ran_line(const uuid& file)
{
    return make_line("ran", file);
}

std::string row_line(const uuid& row)
{
    return make_line("row", row);
}

std::string cursor_line(const uuid& row)
{
    return make_line("cursor", row);
}

}  // namespace restante::client
