#include "storage/content/s3/verdict.hpp"

#include "core/decimal.hpp"
#include "http/client/client_error.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace restante::s3 {

namespace {

// S3 refuses signatures that are 15 minutes off. Engines that call it AccessDenied are found by their Date.
constexpr auto noticeable_skew = std::chrono::minutes(5);

bool is_one_of(std::string_view code, std::initializer_list<std::string_view> codes)
{
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

std::string told(unsigned status, const error_answer& error)
{
    std::string words = "the store answers " + std::to_string(status);
    if (!error.code.empty())
        words += ' ' + error.code.substr(0, 64);
    return words;
}

std::string skewed(std::chrono::seconds skew)
{
    const auto seconds = std::to_string(std::abs(skew.count()));
    return "our clock is " + seconds + " s " + (skew.count() > 0 ? "ahead of" : "behind") +
           " the store's, and it refuses our signatures";
}

}  // namespace

judgement judge(unsigned status, const error_answer& error, std::optional<std::chrono::seconds> skew)
{
    const auto& code = error.code;
    if (status >= 200 && status < 300 && code.empty())
        return {verdict::done};
    if (status == 507 || is_one_of(code, {"QuotaExceeded", "InsufficientStorage"}))
        return {verdict::full, told(status, error) + ": it is full"};
    if (code == "RequestTimeTooSkewed" ||
        (status == 403 && skew && std::chrono::abs(*skew) > noticeable_skew))
        return {verdict::refused, skew ? skewed(*skew) : "our clock differs from the store's"};
    // 416: the object ends before the bytes that its row promises.
    if (code == "NoSuchKey" || status == 416)
        return {verdict::missing, told(status, error)};
    if (code == "NoSuchBucket")
        return {verdict::refused, "the bucket does not exist"};
    if (is_one_of(code, {"InvalidAccessKeyId", "SignatureDoesNotMatch"}))
        return {verdict::refused, told(status, error) + ": check the credentials"};
    if (status >= 500 || status == 408 || status == 429 ||
        is_one_of(code,
                  {"SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "OperationAborted"}))
        return {verdict::try_again, told(status, error)};
    return {verdict::refused, told(status, error)};
}

judgement judge(const error_code& no_answer)
{
    if (no_answer == client_errc::late)
        return {verdict::try_again, "the store does not answer in time"};
    if (no_answer == client_errc::broken)
        return {verdict::try_again, "the store cuts connections"};
    if (is_tls_failure(no_answer))
        return {verdict::try_again, "the store does not prove its name: " + no_answer.message()};
    if (no_answer == client_errc::name_not_found)
        return {verdict::try_again, "the store's name is not found"};
    return {verdict::try_again, "the store cannot be reached"};
}

// "Wed, 18 Nov 2026 07:30:00 GMT", the only form that servers still send.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text)
{
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != 29 || text.substr(25) != " GMT" || text[19] != ':' || text[22] != ':')
        return std::nullopt;
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3)) - months.begin();
    const auto number = [&](std::size_t at, std::size_t length) {
        return parse_decimal(text.substr(at, length)).value_or(100'000);
    };
    const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(number(12, 4))),
                                           std::chrono::month(static_cast<unsigned>(month + 1)),
                                           std::chrono::day(static_cast<unsigned>(number(5, 2))));
    const auto hour = number(17, 2);
    const auto minute = number(20, 2);
    const auto second = number(23, 2);
    if (!date.ok() || hour > 23 || minute > 59 || second > 60)
        return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
           std::chrono::seconds(second);
}

}  // namespace restante::s3
