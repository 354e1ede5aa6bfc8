#pragma once

#include "storage/content/s3/session.hpp"

#include <string>
#include <vector>

namespace restante::s3 {

// What is removed at once. S3 takes up to 1,000, for which a slow engine needs half a minute.
inline constexpr std::size_t largest_removal = 250;

// Removes objects; those that are not there count as removed. Returns the ones that the store has kept. At
// most largest_removal of them. Errors: those of session::repeat().
awaitable<result<std::vector<std::string>>> remove_objects(session& at, std::vector<std::string> objects);

// Up to 1,000 objects under the place's prefix, in the order of their names: those after `after`.
awaitable<result<listing>> list_objects(session& at, std::string after, std::size_t most);

// Asks for one name: whether the store is there, the bucket too, and our keys are accepted.
awaitable<error_code> probe(session& at);

}  // namespace restante::s3
