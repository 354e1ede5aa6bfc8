#pragma once

#include "core/error.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// An error as clients see it.
struct public_error {
    unsigned status = 500;
    std::string_view code;
    std::string_view sentence;
    std::optional<int> retry_after;  // seconds
    bool www_authenticate = false;
};

// The only place where an error is mapped to a status. A value that is no errc becomes internal_error.
public_error public_error_of(errc e) noexcept;

// Errors that are not ours (of the system, of Beast) reveal nothing to a client: they become internal_error.
errc to_errc(const error_code& ec) noexcept;

// An error to answer with, and what the answer carries besides.
struct refusal {
    errc code = errc::internal_error;
    std::optional<std::string> sentence = std::nullopt;  // instead of the one in the table
    boost::json::object fields = {};                     // e.g. filename, size, max

    refusal() = default;
    refusal(errc e) : code(e) {}
    refusal(const error_code& ec) : code(to_errc(ec)) {}
    refusal(errc e, std::string text) : code(e), sentence(std::move(text)) {}
    refusal(errc e, boost::json::object extra) : code(e), fields(std::move(extra)) {}
};

// A value, or the refusal to answer with.
template <class T>
using answerable = boost::system::result<T, refusal>;

// {"error": sentence, "code": code, …fields}. Bytes of a text that are not UTF-8 (a file name can hold any)
// become U+FFFD, so that the answer is always valid JSON.
std::string error_body(const refusal& why);

}  // namespace restante
