#pragma once

#include "storage/tokens.hpp"

#include <boost/json/object.hpp>

namespace restante {

// {"token_id","prefix","scope","name","created_at","last_used_at","expires_at","revoked_at"}; a time that has
// not come is null.
boost::json::object to_json(const token_info& token);

}  // namespace restante
