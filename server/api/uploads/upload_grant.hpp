#pragma once

#include "http/message/public_errors.hpp"
#include "storage/grant_terms.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace restante {

// The grant that an upload came with, if any: refuses what it does not allow, as early as that can be known.
// What is left of it is what it was when the token was looked up, or less; the transaction that stores the
// files has the last word.
class upload_grant {
public:
    // A request that repeats an earlier one under the same key uses nothing: what is left does not matter
    // then, and only the transaction knows.
    upload_grant(std::shared_ptr<const grant_terms> terms, bool may_be_repeated)
        : terms_(std::move(terms)), may_be_repeated_(may_be_repeated)
    {
    }

    // Before the body, from its announced length (0: unknown).
    std::optional<refusal> refuse_head(std::uint64_t announced) const;
    // From the head of a part: its type, and how many files there are with it.
    std::optional<refusal> refuse_file(std::size_t files, std::string_view raw_type) const;
    // From the bytes of all files so far.
    std::optional<refusal> refuse_bytes(std::uint64_t bytes) const;

    // Files that are passed on while they arrive can be neither counted nor looked at.
    static refusal refuse_forward();

private:
    std::optional<refusal> refuse_more(std::int64_t wanted, std::int64_t left) const;

    std::shared_ptr<const grant_terms> terms_;
    bool may_be_repeated_;
};

}  // namespace restante
