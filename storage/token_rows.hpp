#pragma once

#include "storage/pq/result.hpp"
#include "storage/tokens.hpp"

namespace restante {

// Rows of storage/tokens.cpp's statements. Error: wrong_column_type.
result<token_owner> read_token_owner(const pq::row& row);
result<token_info> read_token_info(const pq::row& row);
result<grant_info> read_grant_info(const pq::row& row);

}  // namespace restante
