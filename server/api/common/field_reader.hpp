#pragma once

#include "http/message/public_errors.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace restante {

// Reads the members of a JSON body one by one and remembers the first that has to be refused. A member that
// is absent, null or an empty text counts as absent.
class field_reader {
public:
    // A body that is no object is refused.
    explicit field_reader(const boost::json::value& body);

    // A line for people: at most 255 bytes, without control characters.
    std::optional<std::string> line(std::string_view name);
    std::optional<std::int64_t> whole(std::string_view name, std::int64_t least, std::int64_t most);
    std::vector<std::string> texts(std::string_view name, std::size_t most);

    void refuse(std::string sentence);
    const std::optional<refusal>& refused() const { return refused_; }

private:
    const boost::json::value* find(std::string_view name) const;

    const boost::json::object* body_;
    std::optional<refusal> refused_;
};

}  // namespace restante
