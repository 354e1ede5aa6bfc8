#include "http/message/json_members.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace restante {

namespace {

// Walks over JSON that is known to be well-formed, so there is always a next character where one is expected.
class walker {
public:
    explicit walker(std::string_view text) : text_(text) {}

    char peek()
    {
        at_ = text_.find_first_not_of(" \t\r\n", at_);
        return text_[at_];
    }

    void step()
    {
        peek();
        ++at_;
    }

    std::string_view take_value()
    {
        const char first = peek();
        const auto begin = at_;
        if (first == '"')
            pass_string();
        else if (first == '{' || first == '[')
            pass_nested();
        else
            at_ = std::min(text_.find_first_of(" \t\r\n,]}", at_), text_.size());
        return text_.substr(begin, at_ - begin);
    }

private:
    void pass_string()
    {
        for (++at_; text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\')
                ++at_;
        }
        ++at_;
    }

    void pass_nested()
    {
        int depth = 0;
        do {
            at_ = text_.find_first_of("\"{}[]", at_);
            const char c = text_[at_];
            if (c == '"') {
                pass_string();
                continue;
            }
            depth += c == '{' || c == '[' ? 1 : -1;
            ++at_;
        } while (depth > 0);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

bool is_name(std::string_view quoted, std::string_view name)
{
    if (quoted.find('\\') == std::string_view::npos)
        return quoted.substr(1, quoted.size() - 2) == name;
    return boost::json::parse(quoted).as_string() == name;
}

}  // namespace

std::optional<std::string_view> json_member(std::string_view object, std::string_view name)
{
    walker walk(object);
    walk.step();  // {
    while (walk.peek() != '}') {
        const auto key = walk.take_value();
        walk.step();  // :
        const auto value = walk.take_value();
        if (is_name(key, name))
            return value;
        if (walk.peek() == ',')
            walk.step();
    }
    return std::nullopt;
}

}  // namespace restante
