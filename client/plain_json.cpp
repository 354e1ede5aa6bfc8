#include "client/plain_json.hpp"

#include "core/utf8.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cmath>

namespace restante::client {

void make_plain(boost::json::object& of)
{
    for (auto& [name, value] : of)
        make_plain(value);
}

void make_plain(boost::json::value& of)
{
    if (auto* object = of.if_object()) {
        make_plain(*object);
    } else if (auto* array = of.if_array()) {
        for (auto& each : *array)
            make_plain(each);
    } else if (const auto* text = of.if_string()) {
        if (!is_utf8(*text))
            of = as_utf8(*text);
    } else if (const auto* number = of.if_double(); number && !std::isfinite(*number)) {
        of = nullptr;
    }
}

}  // namespace restante::client
