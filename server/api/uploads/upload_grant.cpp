#include "server/api/uploads/upload_grant.hpp"

#include "core/file_names.hpp"
#include "server/api/common/type_patterns.hpp"
#include "server/api/uploads/upload.hpp"

namespace restante {

namespace {

refusal wrong_type(const grant_terms& terms)
{
    std::string sentence = "this upload grant takes only";
    for (const auto& type : terms.types)
        sentence += (type == terms.types.front() ? " " : ", ") + type;
    return {errc::unsupported_media_type, std::move(sentence)};
}

refusal too_large(const grant_terms& terms)
{
    return {errc::request_too_large, {{"max", terms.limit.bytes}}};
}

}  // namespace

std::optional<refusal> upload_grant::refuse_more(std::int64_t wanted, std::int64_t left) const
{
    if (may_be_repeated_ || wanted <= left)
        return std::nullopt;
    return refusal(errc::grant_exhausted);
}

std::optional<refusal> upload_grant::refuse_head(std::uint64_t announced) const
{
    if (!terms_)
        return std::nullopt;
    const auto left = terms_->left();
    for (const auto amount : {left.requests, left.files, left.bytes})
        if (auto used_up = refuse_more(1, amount))
            return used_up;
    if (announced <= framing_allowance)
        return std::nullopt;
    return refuse_bytes(announced - framing_allowance);
}

std::optional<refusal> upload_grant::refuse_file(std::size_t files, std::string_view raw_type) const
{
    if (!terms_)
        return std::nullopt;
    if (!terms_->types.empty() && !matches_type(terms_->types, normalize_mimetype(raw_type)))
        return wrong_type(*terms_);
    // More than it ever allowed is no repetition either.
    const auto count = static_cast<std::int64_t>(files);
    if (count > terms_->limit.files)
        return refusal(errc::grant_exhausted);
    return refuse_more(count, terms_->left().files);
}

std::optional<refusal> upload_grant::refuse_bytes(std::uint64_t bytes) const
{
    if (!terms_)
        return std::nullopt;
    const auto count = static_cast<std::int64_t>(bytes);
    if (count > terms_->limit.bytes)
        return too_large(*terms_);
    return refuse_more(count, terms_->left().bytes);
}

refusal upload_grant::refuse_forward()
{
    return {errc::insufficient_scope, "an upload grant is of no use to a workspace that is called"};
}

}  // namespace restante
