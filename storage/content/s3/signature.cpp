#include "storage/content/s3/signature.hpp"

#include "core/encoding.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdio>
#include <new>

namespace restante::s3 {

namespace {

std::string_view bytes_of(const digest32& digest)
{
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string signed_names(const signed_parts& what)
{
    std::string names;
    for (const auto& [name, value] : what.fields) {
        if (!names.empty())
            names += ';';
        names += name;
    }
    return names;
}

// A key for one day, region and service, so that whoever learns it learns no more than that.
digest32 signing_key(const key_pair& keys, std::string_view day, std::string_view region)
{
    auto key = hmac_sha256("AWS4" + keys.secret_key, day);
    for (const std::string_view part : {region, std::string_view("s3"), std::string_view("aws4_request")})
        key = hmac_sha256(bytes_of(key), part);
    return key;
}

}  // namespace

digest32 hmac_sha256(std::string_view key, std::string_view message)
{
    digest32 out{};
    unsigned length = 0;
    const auto* text = reinterpret_cast<const unsigned char*>(message.data());
    if (!::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), text, message.size(), out.data(),
                &length))
        throw std::bad_alloc();
    return out;
}

std::string amz_date(std::chrono::sys_seconds when)
{
    const auto day = std::chrono::floor<std::chrono::days>(when);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(when - day);
    std::array<char, 40> text;
    const int length =
        std::snprintf(text.data(), text.size(), "%04d%02u%02uT%02d%02d%02dZ", static_cast<int>(date.year()),
                      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                      static_cast<int>(time.seconds().count()));
    return {text.data(), static_cast<std::size_t>(length)};
}

std::string canonical_request(const signed_parts& what)
{
    std::string text(what.method);
    text += '\n';
    text += what.path;
    text += '\n';
    text += what.query;
    text += '\n';
    for (const auto& [name, value] : what.fields) {
        text += name;
        text += ':';
        text += value;
        text += '\n';
    }
    text += '\n';
    text += signed_names(what);
    text += '\n';
    text += what.payload;
    return text;
}

std::string authorization(const key_pair& keys, std::string_view region, std::string_view date,
                          const signed_parts& what)
{
    const auto day = date.substr(0, 8);
    std::string scope(day);
    scope += '/';
    scope += region;
    scope += "/s3/aws4_request";

    std::string to_sign = "AWS4-HMAC-SHA256\n";
    to_sign += date;
    to_sign += '\n' + scope + '\n' + to_hex(sha256_of(canonical_request(what)));
    const auto key = signing_key(keys, day, region);
    const auto signature = hmac_sha256(bytes_of(key), to_sign);
    return "AWS4-HMAC-SHA256 Credential=" + keys.access_key + '/' + scope +
           ", SignedHeaders=" + signed_names(what) + ", Signature=" + to_hex(signature);
}

}  // namespace restante::s3
