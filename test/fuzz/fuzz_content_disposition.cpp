// For any input, derived names satisfy the rules for names, and a parsed header survives a round trip.

#include "core/file_names.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"
#include "http/multipart/boundary.hpp"
#include "http/multipart/content_disposition.hpp"
#include "http/multipart/part_head.hpp"
#include "test/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>

using namespace restante;
using namespace restante::multipart;

namespace {

std::string quoted(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

void check_names(std::string_view raw)
{
    const auto safe = sanitize_filename(raw);
    require(!safe.empty() && safe.size() <= 100 && safe != "." && safe != "..");
    require(std::all_of(safe.begin(), safe.end(),
                        [](char c) { return is_ascii_alnum(c) || c == '.' || c == '_' || c == '-'; }));
    require(sanitize_filename(safe) == safe);

    const auto original = original_name(raw);
    require(original.size() <= 255 && is_utf8(original));
    require(std::none_of(original.begin(), original.end(), is_ascii_control));
    require(original_name(original) == original);

    const auto type = normalize_mimetype(raw);
    require(normalize_mimetype(type) == type);
}

void check_disposition(std::string_view value)
{
    const auto parsed = parse_content_disposition(value);
    if (!parsed)
        return;
    std::string again = "form-data; name=" + quoted(parsed->name);
    if (parsed->filename) {
        require(parsed->filename->size() <= 255);
        require(parsed->filename->find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
        again += "; filename=" + quoted(*parsed->filename);
    }
    const auto reparsed = parse_content_disposition(again);
    require(reparsed && reparsed->name == parsed->name && reparsed->filename == parsed->filename);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    check_names(input);
    check_disposition(input);
    (void)parse_part_head(input);
    if (const auto found = boundary::from_content_type(input))
        require(!found->text().empty() && found->text().size() <= 70);
    return 0;
}
