#pragma once

#include "http/message/public_errors.hpp"
#include "storage/workspaces.hpp"

#include <boost/json/value.hpp>

namespace restante {

struct registration_form : registration {
    std::optional<std::string> card_url =
        {};  // where the card of a push workspace says that it can be called
};

// The body of a registration, checked. An empty text counts as absent, as existing clients expect. A
// workspace that names no mode but a url is pushed to, unless the url says that it has no address
// (`remote:`): a guess, whose url is not checked here, because a mode that is stored already decides.
// Refusals: invalid_workspace_id, and bad_request with a sentence that names the field.
answerable<registration_form> read_registration(const boost::json::value& body);

// Whether its url fits its mode. Refusals: bad_request.
answerable<void> check_delivery(const registration& what);

// The rule that ties mode and url together, for requests and for the command line alike.
enum class delivery_fault { none, push_without_url, bad_url };
delivery_fault find_delivery_fault(delivery_mode mode, const std::optional<std::string>& url);

}  // namespace restante
