#pragma once

#include <string>
#include <string_view>

namespace restante {

// A client's name for a file can be any bytes; these rules turn it into what we store, show and send. They
// are total: no input fails.

// The name a file is stored under: the last component after '/', every character outside [A-Za-z0-9._-] as
// one '_' (one per byte where the bytes are not UTF-8), at most 100 characters, never empty, "." or "..".
std::string sanitize_filename(std::string_view raw);

// The name as the client wrote it: UTF-8 text without control characters, each invalid byte as U+FFFD,
// truncated at a code point boundary to at most 255 bytes.
std::string original_name(std::string_view raw);

// The media type before any ';'. Empty stays empty; anything that is not a plain visible-ASCII type/subtype
// is application/octet-stream.
std::string normalize_mimetype(std::string_view raw);

// The value of an RFC 5987 extended parameter, without its UTF-8'' prefix. The text must be UTF-8.
std::string percent_encode_rfc5987(std::string_view text);

}  // namespace restante
