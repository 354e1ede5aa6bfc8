#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace restante {

// Makes JSON Schema of the short notation in which the rooms describe bodies, parameters and headers:
//
//   "time or null: when it was acked"        a type or a schema's name, `[]` for a list of them, `or null`,
//   and
//                                            what it means
//   {"fields": {"id": "uuid", "raced?": …}}  an object with these members, of which those with `?` may be
//                                            absent, and no others unless it is "open"; with "like", those of
//                                            another schema too
//   {"const": true}                          any other object is JSON Schema already
class shape_reader {
public:
    shape_reader(const boost::json::object& schemas, std::vector<std::string>& faults)
        : schemas_(schemas), faults_(faults)
    {
    }

    // `where` names the place in a fault.
    boost::json::object to_schema(const boost::json::value& shape, std::string_view where);

    // Each member with its schema: {"name", "required", "schema"}.
    struct member {
        std::string name;
        bool required;
        boost::json::object schema;
    };
    std::vector<member> members(const boost::json::object& fields, std::string_view where);

    void fault(std::string_view where, std::string_view what);

private:
    boost::json::object word(std::string_view text, std::string_view where);
    boost::json::object type(std::string_view name, std::string_view where);
    boost::json::object fields_of(const boost::json::object& shape, std::string_view where);

    const boost::json::object& schemas_;
    std::vector<std::string>& faults_;
};

}  // namespace restante
