#pragma once

#include <boost/json/object.hpp>

#include <string_view>

namespace restante::client {

// The text of a member; empty when there is none, or it is no text. Valid as long as the object is.
inline std::string_view text_member(const boost::json::object& from, std::string_view name)
{
    const auto* found = from.if_contains(name);
    return found && found->is_string() ? std::string_view(found->get_string()) : std::string_view();
}

}  // namespace restante::client
