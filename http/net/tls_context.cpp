#include "http/net/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

namespace restante {

namespace {

// Each is useful to an attacker and to none of our clients: compression leaks lengths, renegotiation burns
// CPU, tickets keep a key in memory that decrypts recorded connections.
constexpr std::uint64_t refused_features = SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                           SSL_OP_NO_TICKET | SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE;

constexpr const char* ciphers_1_2 = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* ciphers_1_3 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* groups = "X25519:P-256:P-384";

std::string last_openssl_error()
{
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_peek_last_error(), text.data(), text.size());
    return text.data();
}

// Only what is wrong, for people: a missing file is one, and "no certificate or crl found".
std::string last_openssl_reason()
{
    const auto last = ERR_peek_last_error();
    const auto first = ERR_peek_error();
    if (ERR_SYSTEM_ERROR(first))
        return std::strerror(ERR_GET_REASON(first));
    const char* reason = ERR_reason_error_string(last);
    return reason ? reason : last_openssl_error();
}

// In the form of ALPN: a length, then the name.
constexpr unsigned char our_protocol[] = "\x08http/1.1";

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                    unsigned int offered_size, void*)
{
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, out_size, our_protocol, sizeof our_protocol - 1, offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

startup_result<void> check_readable(const std::string& path, const char* what, const char* flag)
{
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0)
        return startup_failure{std::string("cannot read the ") + what + " " + path + " (" + flag +
                               "): " + std::strerror(errno)};
    return {};
}

startup_result<void> check_private(const std::string& key)
{
    struct stat info{};
    if (::stat(key.c_str(), &info) == 0 && (info.st_mode & S_IRWXO) != 0)
        return startup_failure{"the key " + key + " can be read by every user of this machine; chmod 600 it"};
    return {};
}

startup_result<void> check_dates(SSL_CTX* context, const std::string& path)
{
    const X509* certificate = SSL_CTX_get0_certificate(context);
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) <= 0)
        return startup_failure{"the certificate " + path + " has expired"};
    if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
        return startup_failure{"the certificate " + path + " is not valid yet; is the clock right?"};
    return {};
}

startup_result<void> load_pair(SSL_CTX* context, const certificate_files& files)
{
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
        return startup_failure{"cannot use the certificate " + files.certificate + ": " +
                               last_openssl_error()};
    // An encrypted key must fail here instead of asking for its passphrase on a terminal.
    SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
    if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
        if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH)
            return startup_failure{"the key " + files.key + " does not belong to the certificate " +
                                   files.certificate};
        return startup_failure{"cannot use the key " + files.key + ": " + last_openssl_error()};
    }
    if (SSL_CTX_check_private_key(context) != 1)
        return startup_failure{"the key " + files.key + " does not belong to the certificate " +
                               files.certificate};
    return {};
}

// The same for both directions.
bool restrict_protocol(SSL_CTX* context)
{
    SSL_CTX_set_options(context, refused_features);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);  // one system call a record instead of two
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(context, ciphers_1_2) == 1 &&
           SSL_CTX_set_ciphersuites(context, ciphers_1_3) == 1 &&
           SSL_CTX_set1_groups_list(context, groups) == 1;
}

bool restrict_server(SSL_CTX* context)
{
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
    return restrict_protocol(context) && SSL_CTX_set_num_tickets(context, 0) == 1 &&
           SSL_CTX_set_max_early_data(context, 0) == 1;
}

bool restrict_client(SSL_CTX* context)
{
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    return restrict_protocol(context) &&
           SSL_CTX_set_alpn_protos(context, our_protocol, sizeof our_protocol - 1) == 0 &&
           SSL_CTX_set_default_verify_paths(context) == 1;
}

}  // namespace

startup_result<tls_context> make_tls_context(const certificate_files& files)
{
    if (auto readable = check_readable(files.certificate, "certificate", "--tls-cert"); !readable)
        return readable.error();
    if (auto readable = check_readable(files.key, "key", "--tls-key"); !readable)
        return readable.error();
    if (auto closed = check_private(files.key); !closed)
        return closed.error();

    tls_context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    if (!context || !restrict_server(context.get()))
        return startup_failure{"OpenSSL refuses our TLS settings: " + last_openssl_error()};
    if (auto loaded = load_pair(context.get(), files); !loaded)
        return loaded.error();
    if (auto valid = check_dates(context.get(), files.certificate); !valid)
        return valid.error();
    return context;
}

startup_result<tls_context> make_client_tls_context(const std::string& extra_roots)
{
    tls_context context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    if (!context || !restrict_client(context.get()))
        return startup_failure{"OpenSSL refuses our TLS settings: " + last_openssl_error()};
    if (extra_roots.empty())
        return context;
    ERR_clear_error();
    if (SSL_CTX_load_verify_file(context.get(), extra_roots.c_str()) != 1)
        return startup_failure{"The certificates in " + extra_roots +
                               " cannot be used: " + last_openssl_reason() + '.'};
    return context;
}

}  // namespace restante
