#pragma once

#include "server/api/openapi/fragments.hpp"
#include "server/api/openapi/shapes.hpp"

#include <boost/json/object.hpp>

#include <string_view>

namespace restante {

// The Header Object of each header in a group.
boost::json::object header_objects(shape_reader& shapes, const boost::json::object& group,
                                   std::string_view where);

// Nearly every answer has the headers of `every_answer`, and many those of `every_error`: the document has
// them once, and answers refer to them.
boost::json::object shared_headers(const api_fragments& fragments, std::string_view group);
boost::json::object header_components(const api_fragments& fragments, shape_reader& shapes);

// Headers of an answer that has either of two forms: those that only one of them has may be absent.
void join_headers(boost::json::object& own, const boost::json::object& others, const api_fragments& fragments,
                  shape_reader& shapes);

}  // namespace restante
