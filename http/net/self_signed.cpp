#include "http/net/self_signed.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace restante {

namespace {

constexpr long lifetime_seconds = 397L * 24 * 60 * 60;
constexpr long renewal_seconds = 24L * 60 * 60;

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* object) const
    {
        Free(object);
    }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;
using number_ptr = std::unique_ptr<BIGNUM, freed_by<BN_free>>;
using file_ptr = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

std::string host_name()
{
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0)
        return {};
    const std::string_view text = name.data();
    const bool plain =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
        std::string_view::npos;
    return plain ? std::string(text) : std::string();
}

bool add_extension(X509* certificate, int kind, const std::string& value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    const extension_ptr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_random_serial(X509* certificate)
{
    const number_ptr serial(BN_new());
    return serial && BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
           BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr;
}

certificate_ptr make_certificate(EVP_PKEY* key)
{
    certificate_ptr certificate(X509_new());
    if (!certificate)
        return nullptr;
    std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";
    if (const auto host = host_name(); !host.empty() && host != "localhost")
        names += ",DNS:" + host;

    auto* subject = X509_get_subject_name(certificate.get());
    const auto* common_name = reinterpret_cast<const unsigned char*>("Restante (self-signed)");
    const bool made = X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                      set_random_serial(certificate.get()) &&
                      X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -300) != nullptr &&
                      X509_gmtime_adj(X509_getm_notAfter(certificate.get()), lifetime_seconds) != nullptr &&
                      X509_set_pubkey(certificate.get(), key) == 1 &&
                      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
                      X509_set_issuer_name(certificate.get(), subject) == 1 &&
                      add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE") &&
                      add_extension(certificate.get(), NID_key_usage, "critical,digitalSignature") &&
                      add_extension(certificate.get(), NID_ext_key_usage, "serverAuth") &&
                      add_extension(certificate.get(), NID_subject_alt_name, names) &&
                      X509_sign(certificate.get(), key, EVP_sha256()) > 0;
    return made ? std::move(certificate) : nullptr;
}

// Written to a temporary file and renamed, so that nobody ever reads half a file or one with open
// permissions.
template <class Write>
bool write_file(const std::string& path, mode_t mode, Write write)
{
    const auto beside = path + ".new";
    ::unlink(beside.c_str());
    const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0)
        return false;
    file_ptr file(::fdopen(descriptor, "w"));
    if (!file) {
        ::close(descriptor);
        return false;
    }
    const bool written = write(file.get()) && std::fflush(file.get()) == 0 && ::fsync(descriptor) == 0;
    file.reset();
    return written && ::rename(beside.c_str(), path.c_str()) == 0;
}

bool is_usable(const certificate_files& files)
{
    const file_ptr file(std::fopen(files.certificate.c_str(), "r"));
    if (!file || ::access(files.key.c_str(), R_OK) != 0)
        return false;
    const certificate_ptr certificate(PEM_read_X509(file.get(), nullptr, nullptr, nullptr));
    if (!certificate)
        return false;
    auto soon = std::time(nullptr) + renewal_seconds;
    return X509_cmp_time(X509_get0_notAfter(certificate.get()), &soon) > 0;
}

}  // namespace

startup_result<certificate_files> make_self_signed_if_needed(const std::string& data_dir)
{
    certificate_files files{data_dir + "/tls-cert.pem", data_dir + "/tls-key.pem"};
    if (is_usable(files))
        return files;

    std::error_code failed;
    std::filesystem::create_directories(data_dir, failed);
    if (failed)
        return startup_failure{"cannot make the data directory " + data_dir +
                               " (--data-dir): " + failed.message()};

    ERR_clear_error();
    const key_ptr key(EVP_EC_gen("P-256"));
    const auto certificate = key ? make_certificate(key.get()) : nullptr;
    if (!certificate)
        return startup_failure{"OpenSSL could not make a self-signed certificate"};

    const bool written = write_file(files.key, 0600,
                                    [&](std::FILE* out) {
                                        return PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0,
                                                                    nullptr, nullptr) == 1;
                                    }) &&
                         write_file(files.certificate, 0644, [&](std::FILE* out) {
                             return PEM_write_X509(out, certificate.get()) == 1;
                         });
    if (!written)
        return startup_failure{"cannot write the self-signed certificate into " + data_dir +
                               " (--data-dir): " + std::strerror(errno)};
    return files;
}

}  // namespace restante
