#pragma once

#include "http/message/public_errors.hpp"

#include <string>
#include <string_view>

namespace restante {

// The path that GET …/chat/download asks for, from its request target: absolute, canonical, and under one of
// the roots that a workspace shows. Encoded again, for a query of our own.
answerable<std::string> read_download_path(std::string_view request_target);

}  // namespace restante
