#pragma once

#include "server/api/openapi/shapes.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace restante {

struct route;
struct api_fragments;

// The codes of errors, of which each has its status.
using error_codes = std::set<std::string, std::less<>>;

// What a request can be refused with before any handler sees it, whatever it asks for.
const error_codes& codes_of_every_request();
// What a path can be refused with that no route has.
const error_codes& codes_without_route();
// What the table of routes says about a route's refusals: its scope, its body, the ids in its path.
error_codes codes_of_route(const route& which);

// Makes the answers to errors. Operations with the same errors share them, as components of the document.
class error_answers {
public:
    error_answers(const api_fragments& fragments, shape_reader& shapes);

    // Status → reference to a response, for the errors of one operation.
    boost::json::object responses(const error_codes& codes, std::string_view where);

    // Adds what such a reference says to an answer of the same status that is no error.
    void join(const boost::json::value& reference, boost::json::object& answer) const;

    // The components that the references name.
    boost::json::object take_responses() { return std::move(responses_); }
    boost::json::object take_schemas() { return std::move(schemas_); }

private:
    boost::json::object make_response(const error_codes& codes);
    void add_schema(const std::string& code);

    const api_fragments& fragments_;
    shape_reader& shapes_;
    boost::json::object responses_;
    boost::json::object schemas_;
};

}  // namespace restante
