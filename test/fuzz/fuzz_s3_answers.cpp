// What an S3 sends as the body of an answer. Whatever it is, it is refused or read into bounded texts, and a
// document of ours that is made from what was read can be read again.
#include "storage/content/s3/answers.hpp"
#include "storage/content/s3/xml.hpp"
#include "test/fuzz/require.hpp"

#include <cstdint>

namespace {

using namespace restante;
using namespace restante::s3;

void check_walk(std::string_view document)
{
    const auto bounded = [&](std::string_view path, std::string_view text) {
        require(!path.empty() && path.size() <= deepest_xml * (longest_xml_name + 1));
        require(text.size() <= longest_xml_text && text.size() <= document.size());
    };
    read_xml(document, bounded);
}

void check_listing(std::string_view document)
{
    const auto page = parse_listing(document);
    if (!page)
        return;
    std::vector<std::string> keys;
    for (const auto& each : page->objects) {
        require(!each.key.empty());
        keys.push_back(each.key);
    }
    bool readable = true;
    std::size_t found = 0;
    const auto compare = [&](std::string_view path, std::string_view text) {
        if (path == "Delete/Object/Key")
            readable = readable && found < keys.size() && text == keys[found++];
    };
    require(read_xml(make_removal(keys), compare) && readable && found == keys.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view document(reinterpret_cast<const char*>(data), size);
    check_walk(document);
    check_listing(document);
    parse_error(document);
    parse_upload_id(document);
    parse_uploads(document);
    parse_removals(document);
    is_completed(document);
    return 0;
}
