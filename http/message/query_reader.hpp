#pragma once

#include "http/message/public_errors.hpp"
#include "http/message/request_target.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace restante {

// Reads the parameters of a query one by one and keeps the first that has to be refused. A parameter that is
// there but empty counts as absent, as existing clients expect.
class query_reader {
public:
    explicit query_reader(const query_params& query) : query_(query) {}

    std::optional<std::string_view> text(std::string_view name);

    // The parameter as `parse` reads it. When it can't, it is refused with a sentence that says what it must
    // be.
    template <class Parse>
    auto value(std::string_view name, std::string_view must_be, Parse parse)
    {
        using value_type = decltype(parse(std::string_view{}));
        const auto given = text(name);
        if (!given)
            return value_type{};
        auto parsed = parse(*given);
        if (!parsed)
            refuse(std::string(name) + " must be " + std::string(must_be));
        return parsed;
    }

    // `limit`, which is never refused: anything but a positive number means the default.
    int limit(int otherwise, int most);

    void refuse(std::string sentence);
    const std::optional<refusal>& refused() const { return refused_; }

private:
    const query_params& query_;
    std::optional<refusal> refused_;
};

}  // namespace restante
