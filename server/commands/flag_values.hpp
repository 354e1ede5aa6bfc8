#pragma once

#include <boost/json/object.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace restante {

// Flags of commands that become members of a body which the API takes. Each says in a sentence that names the
// flag what is wrong with its text, which may be empty: then nothing is said, and the default holds.

std::optional<std::string> put_count(boost::json::object& to, std::string_view member, std::string_view flag,
                                     const std::string& text, std::int64_t most);
std::optional<std::string> put_size(boost::json::object& to, std::string_view member, std::string_view flag,
                                    const std::string& text, std::int64_t most);
// Whole seconds: a fraction of one would be no time at all.
std::optional<std::string> put_lifetime(boost::json::object& to, const std::string& text,
                                        std::chrono::seconds most);

}  // namespace restante
