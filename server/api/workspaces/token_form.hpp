#pragma once

#include "http/message/public_errors.hpp"
#include "storage/tokens.hpp"

#include <boost/json/value.hpp>

namespace restante {

// What a token is asked to be; by default full and for good.
struct token_request {
    token_scope scope = token_scope::full;
    std::optional<std::string> name = {};
    std::optional<std::chrono::seconds> lifetime = {};
};

inline constexpr std::chrono::seconds longest_token_life = std::chrono::days(3650);

// {"scope","name","expires_in"}, all optional. Refusal: bad_request with a sentence that names the field.
answerable<token_request> read_token_request(const boost::json::value& body);

// A scope that a token can be asked to have; grants are made otherwise.
std::optional<token_scope> parse_requested_scope(std::string_view text);

}  // namespace restante
