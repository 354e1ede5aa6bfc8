#pragma once

#include "core/error.hpp"
#include "core/ids.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace restante {

enum class log_level { debug, info, warn, error };

// Both may be called at any time, from any thread.
void set_log_level(log_level least);
void set_log_sink(int descriptor);  // the default is stderr; the caller keeps it open

// What the lines of one request have in common: the id that its client sees, and that of the trace which it
// belongs to.
struct log_origin {
    std::string_view request_id;
    std::string_view trace_id;
};

// One JSON object on one line of stderr, handed over by the destructor in one piece (core/log_sink.hpp):
//
//   log_line(log_level::info, "upload_staged").from(req.origin()).field("size", bytes);
//
// Text is escaped (control characters, quotes, bytes that are not UTF-8) and cut at 256 bytes, so that
// external input cannot forge a line. Below the chosen level nothing is built. Names and events are our own
// literals and are written verbatim. A line that the sink cannot accept is lost and counted: logging never
// fails its caller.
class log_line {
public:
    log_line(log_level level, std::string_view event);
    ~log_line();
    log_line(const log_line&) = delete;
    log_line& operator=(const log_line&) = delete;

    log_line& field(std::string_view name, std::string_view text);
    log_line& field(std::string_view name, const char* text) { return field(name, std::string_view(text)); }
    log_line& field(std::string_view name, const std::string& text)
    {
        return field(name, std::string_view(text));
    }
    log_line& field(std::string_view name, std::int64_t value);
    log_line& field(std::string_view name, std::uint64_t value);
    log_line& field(std::string_view name, int value)
    {
        return field(name, static_cast<std::int64_t>(value));
    }
    log_line& field(std::string_view name, unsigned value)
    {
        return field(name, static_cast<std::uint64_t>(value));
    }
    log_line& field(std::string_view name, double value);
    log_line& field(std::string_view name, bool value);
    log_line& field(std::string_view name, const uuid& id);

    log_line& from(const log_origin& request)
    {
        return field("request_id", request.request_id).field("trace_id", request.trace_id);
    }

    // "error" with the message and, if the error carries a location, "where" with file and line.
    log_line& failure(const error_code& ec);

private:
    std::string text_;  // empty: below the log level
};

}  // namespace restante
