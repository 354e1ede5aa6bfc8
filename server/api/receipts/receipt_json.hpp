#pragma once

#include "storage/receipts.hpp"

#include <string>

namespace restante {

std::string receipt_json(const receipt& of);

}  // namespace restante
