#pragma once

#include "core/startup_failure.hpp"

#include <openssl/types.h>

#include <memory>
#include <string>

namespace restante {

// Shared by the connections of all shards; a connection keeps the one it started with.
using tls_context = std::shared_ptr<SSL_CTX>;

struct certificate_files {
    std::string certificate;  // PEM, the server's first, then its chain
    std::string key;          // PEM, without a passphrase
};

// TLS 1.2 and 1.3, forward secrecy and AEAD only, no resumption, no early data. The error says in one
// sentence what is wrong with the certificate or its key: unreadable, expired, not a pair, open to other
// users.
startup_result<tls_context> make_tls_context(const certificate_files& files);

// For connections that we open: the other side must show a certificate that the system's roots vouch for, or
// those in `extra_roots`, a PEM file; empty for none. The error says what is wrong with that file.
startup_result<tls_context> make_client_tls_context(const std::string& extra_roots);

}  // namespace restante
