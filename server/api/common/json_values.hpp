#pragma once

#include "core/clock.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>

namespace restante {

inline boost::json::value value_or_null(const std::optional<timestamp>& when)
{
    if (!when)
        return nullptr;
    return boost::json::value(rfc3339(*when));
}

inline boost::json::value value_or_null(const std::optional<std::string>& text)
{
    if (!text)
        return nullptr;
    return boost::json::value(*text);
}

}  // namespace restante
