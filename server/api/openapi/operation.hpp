#pragma once

#include "http/routing/routes.hpp"
#include "server/api/openapi/error_answers.hpp"
#include "server/api/openapi/fragments.hpp"
#include "server/api/openapi/shapes.hpp"

#include <boost/json/object.hpp>

#include <string>

namespace restante {

// "GET /version"
std::string name_of(const route& which);
// "get"
std::string operation_method(const route& which);

// Makes the Operation Objects of routes.
class operation_maker {
public:
    operation_maker(const api_fragments& fragments, shape_reader& shapes, error_answers& errors)
        : fragments_(fragments), shapes_(shapes), errors_(errors)
    {
    }

    boost::json::object make(const route& which);
    // HEAD has the answers of GET, without their bodies.
    boost::json::object make_head(const boost::json::object& get);
    boost::json::object make_options(const route& which);

    boost::json::object take_responses() { return std::move(responses_); }

private:
    boost::json::array parameters(const route& which, const boost::json::object& said,
                                  const std::string& where);
    boost::json::object request_body(const route& which, const boost::json::object& said,
                                     const std::string& where);
    boost::json::object responses(const route& which, const boost::json::object& said,
                                  const std::string& where);
    boost::json::object answer(std::string_view status, const boost::json::value& said,
                               const std::string& where);
    boost::json::object headers_of(const boost::json::object& said, const std::string& where);

    const api_fragments& fragments_;
    shape_reader& shapes_;
    error_answers& errors_;
    boost::json::object responses_;
};

}  // namespace restante
