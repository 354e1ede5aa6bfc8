#pragma once

#include <boost/json/object.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// An openapi.json of a room, embedded by CMake.
struct embedded_schema {
    std::string_view path;  // "server/api/uploads/openapi.json"
    std::string_view text;
};
std::span<const embedded_schema> embedded_schemas();

// What the rooms say about their routes, put together. docs/contributing.md describes the notation.
struct api_fragments {
    boost::json::object operations;     // "GET /version" → summary, query, headers, body, answers, errors
    boost::json::object schemas;        // by name, for the document's components
    boost::json::object errors;         // code → the fields that its answer has besides error and code
    boost::json::object error_headers;  // code → the headers that its answer has besides those of every error
    boost::json::object headers;        // by name: groups of headers that several answers share
};

// The object under this name; an empty one when there is none.
const boost::json::object& object_at(const boost::json::object& from, std::string_view name);

// Whatever is wrong with the texts is added to `faults`, in words for whoever wrote them.
api_fragments read_fragments(std::span<const embedded_schema> texts, std::vector<std::string>& faults);

}  // namespace restante
