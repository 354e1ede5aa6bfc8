#include "http/message/request_id.hpp"

#include "core/ids.hpp"
#include "http/message/field_grammar.hpp"

#include <algorithm>

namespace restante {

namespace {

constexpr std::size_t min_size = 8;
constexpr std::size_t max_size = 64;

bool is_usable(std::string_view text)
{
    return text.size() >= min_size && text.size() <= max_size &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_ascii_alnum(c) || c == '-'; });
}

}  // namespace

request_id::request_id(std::string_view from_client)
{
    const auto keep = [this](std::string_view text) {
        std::copy(text.begin(), text.end(), text_.begin());
        size_ = text.size();
    };
    if (is_usable(from_client))
        keep(from_client);
    else
        keep(to_string(make_uuid_v4()));
}

}  // namespace restante
