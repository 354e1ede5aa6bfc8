#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace restante::s3 {

// Called at the end of every element, with the names from the root to it ("ListBucketResult/Contents/Key",
// without namespace prefixes) and its text, decoded; empty for an element that holds others.
using xml_visitor = std::function<void(std::string_view path, std::string_view text)>;

inline constexpr std::size_t deepest_xml = 8;
inline constexpr std::size_t longest_xml_name = 64;
inline constexpr std::size_t longest_xml_text = 4096;

// Reads the small part of XML that S3 answers are made of: elements, attributes (stepped over), text, the
// five named entities and numeric ones, comments, a declaration. Everything else is refused: DOCTYPE, CDATA,
// processing instructions, text beside elements, what is deeper or longer than the limits above. False when
// it was refused; what the visitor has seen until then is to be thrown away.
bool read_xml(std::string_view document, const xml_visitor& visit);

}  // namespace restante::s3
