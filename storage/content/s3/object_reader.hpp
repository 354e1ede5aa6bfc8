#pragma once

#include "storage/content/s3/bodies.hpp"
#include "storage/content/s3/retry_plan.hpp"
#include "storage/content/s3/session.hpp"

namespace restante::s3 {

// Reads a stretch of an object that has `size` bytes, as fast as its caller takes them, however slow that is.
// A connection that is cut is resumed where it broke off: objects never change. No byte is passed on from an
// answer that is not exactly what was asked for.
class object_reader {
public:
    object_reader(session from, std::string object, std::uint64_t size, stretch part);

    // Waits until the store has begun to answer. Errors: those of session::repeat(), content_lost also for an
    // object of another size. Once it has answered, a store that is away for a moment is waited for.
    awaitable<error_code> open();

    // The next bytes, valid until the next call; an empty span is the end. Errors as above.
    awaitable<result<std::span<const char>>> next();

private:
    awaitable<judgement> ask();
    awaitable<error_code> after_break(judgement said);

    session from_;
    std::string object_;
    std::uint64_t size_;
    stretch left_;
    retry_plan plan_;
    std::unique_ptr<client_exchange> answer_;
    bool has_answered_ = false;
    bool brought_bytes_ = false;  // this answer, or the one that has just broken off
};

// Whether this is the value of Content-Range for that stretch of an object of that size.
bool is_content_range(std::string_view text, stretch part, std::uint64_t size);

}  // namespace restante::s3
