#pragma once

#include "storage/tokens.hpp"

#include <boost/json/object.hpp>

namespace restante {

// A grant as its workspace sees it, without the grant itself.
boost::json::object to_json(const grant_info& grant);

// The same for its bearer: limits and what is left of them.
boost::json::object terms_json(const grant_info& grant);

// Where the page lives on which a grant is used. What follows the # is not sent to any server.
std::string page_url(std::string_view base, std::string_view grant);

}  // namespace restante
