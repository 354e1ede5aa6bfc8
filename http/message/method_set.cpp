#include "http/message/method_set.hpp"

#include <array>

namespace restante {

namespace http = boost::beast::http;

namespace {

// In the order in which Allow names them. CONNECT and TRACE are known and never allowed.
constexpr std::array known_methods = {http::verb::get,     http::verb::head,    http::verb::post,
                                      http::verb::put,     http::verb::patch,   http::verb::delete_,
                                      http::verb::options, http::verb::connect, http::verb::trace};

unsigned bit_of(http::verb verb)
{
    for (std::size_t i = 0; i < known_methods.size(); ++i)
        if (known_methods[i] == verb)
            return 1u << i;
    return 0;
}

}  // namespace

bool is_known_method(http::verb verb)
{
    return bit_of(verb) != 0;
}

void method_set::insert(http::verb verb)
{
    bits_ |= bit_of(verb);
    if (verb == http::verb::get)
        bits_ |= bit_of(http::verb::head);
}

bool method_set::contains(http::verb verb) const
{
    return (bits_ & bit_of(verb)) != 0;
}

std::string method_set::to_string() const
{
    std::string text;
    for (const auto verb : known_methods) {
        if (!contains(verb))
            continue;
        if (!text.empty())
            text += ", ";
        text += http::to_string(verb);
    }
    return text;
}

}  // namespace restante
