#pragma once

#include "core/startup_failure.hpp"
#include "http/net/tls_context.hpp"

#include <string>

namespace restante {

// tls-cert.pem and tls-key.pem in the data directory: EC P-256, for localhost, 127.0.0.1, ::1 and the name of
// this machine, valid for 397 days. A pair that is there and has more than a day left is used as it is, so
// that clients can pin it.
startup_result<certificate_files> make_self_signed_if_needed(const std::string& data_dir);

}  // namespace restante
