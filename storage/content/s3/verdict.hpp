#pragma once

#include "core/error.hpp"
#include "storage/content/s3/answers.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace restante::s3 {

enum class verdict {
    done,
    missing,    // the object is not there
    try_again,  // the store is overloaded, broken or away
    full,       // it takes nothing more
    refused,    // it would answer the same again: keys, permissions, clock, bucket
    not_sent,   // our own bytes could not be read, which says nothing of the store
};

// What to make of an attempt, and the words for the log and /readyz. They never hold credentials or
// signatures.
struct judgement {
    verdict what = verdict::done;
    std::string words = {};
};

// `skew` is our clock minus the store's, when it told its own.
judgement judge(unsigned status, const error_answer& error, std::optional<std::chrono::seconds> skew);
// An attempt that got no answer.
judgement judge(const error_code& no_answer);

// The Date field of an answer.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

}  // namespace restante::s3
