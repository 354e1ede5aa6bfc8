#include "storage/pq/result.hpp"

#include "core/decimal.hpp"

#include <boost/endian/conversion.hpp>
#include <libpq-fe.h>

#include <bit>
#include <cstring>

namespace restante::pq {

namespace {

template <class Int>
Int read_big(const char* from)
{
    Int value;
    std::memcpy(&value, from, sizeof value);
    return boost::endian::big_to_native(value);
}

error_code wrong_type()
{
    return RESTANTE_ERROR(errc::wrong_column_type);
}

uuid to_uuid(const char* bytes)
{
    uuid id;
    std::memcpy(id.data, bytes, 16);
    return id;
}

// Iterates over a one-dimensional binary array; a NULL element is an error, since no caller of ours needs
// one.
template <class OnElement>
error_code for_each_element(std::string_view bytes, unsigned element, OnElement on_element)
{
    constexpr std::size_t head = 12, dimension = 8;
    if (bytes.size() < head || read_big<std::uint32_t>(bytes.data() + 8) != element)
        return wrong_type();
    const auto dimensions = read_big<std::int32_t>(bytes.data());
    if (dimensions == 0)
        return {};
    if (dimensions != 1 || bytes.size() < head + dimension)
        return wrong_type();
    auto count = read_big<std::int32_t>(bytes.data() + head);
    bytes.remove_prefix(head + dimension);
    for (; count > 0; --count) {
        if (bytes.size() < 4)
            return wrong_type();
        const auto length = read_big<std::int32_t>(bytes.data());
        if (length < 0)
            return RESTANTE_ERROR(errc::unexpected_null);
        bytes.remove_prefix(4);
        if (bytes.size() < static_cast<std::size_t>(length))
            return wrong_type();
        on_element(bytes.substr(0, static_cast<std::size_t>(length)));
        bytes.remove_prefix(static_cast<std::size_t>(length));
    }
    return {};
}

}  // namespace

bool field::is_null() const
{
    return PQgetisnull(from_, row_, column_) != 0;
}

unsigned field::type() const
{
    return PQftype(from_, column_);
}

std::string_view field::bytes() const
{
    return {PQgetvalue(from_, row_, column_), static_cast<std::size_t>(PQgetlength(from_, row_, column_))};
}

// Every as<T>() starts with the same checks: the type of the column, then NULL.
#define RESTANTE_EXPECT_TYPE(condition)                   \
    do {                                                  \
        if (!(condition))                                 \
            return wrong_type();                          \
        if (is_null())                                    \
            return RESTANTE_ERROR(errc::unexpected_null); \
    } while (false)

template <>
result<bool> field::as<bool>() const
{
    // An error_code converts to bool as well, so the side must be named.
    if (type() != oid::boolean)
        return {boost::system::in_place_error, wrong_type()};
    if (is_null())
        return {boost::system::in_place_error, RESTANTE_ERROR(errc::unexpected_null)};
    return bytes()[0] != 0;
}

template <>
result<std::int32_t> field::as<std::int32_t>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::int4 || type() == oid::int2);
    if (type() == oid::int2)
        return std::int32_t{read_big<std::int16_t>(bytes().data())};
    return read_big<std::int32_t>(bytes().data());
}

template <>
result<std::int64_t> field::as<std::int64_t>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::int8 || type() == oid::int4 || type() == oid::int2);
    if (type() == oid::int2)
        return std::int64_t{read_big<std::int16_t>(bytes().data())};
    if (type() == oid::int4)
        return std::int64_t{read_big<std::int32_t>(bytes().data())};
    return read_big<std::int64_t>(bytes().data());
}

template <>
result<double> field::as<double>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::float8);
    return std::bit_cast<double>(read_big<std::int64_t>(bytes().data()));
}

template <>
result<uuid> field::as<uuid>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::uuid);
    return to_uuid(bytes().data());
}

template <>
result<timestamp> field::as<timestamp>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::timestamptz);
    return epoch + std::chrono::microseconds(read_big<std::int64_t>(bytes().data()));
}

template <>
result<std::string_view> field::as<std::string_view>() const
{
    const auto t = type();
    RESTANTE_EXPECT_TYPE(t == oid::text || t == oid::varchar || t == oid::name || t == oid::json ||
                         t == oid::jsonb || t == oid::unknown);
    auto text = bytes();
    if (t == oid::jsonb)
        text.remove_prefix(1);  // the version of the binary format
    return text;
}

template <>
result<std::string> field::as<std::string>() const
{
    const auto text = as<std::string_view>();
    if (!text)
        return text.error();
    return std::string(*text);
}

template <>
result<blob> field::as<blob>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::bytea);
    return blob(bytes().data(), bytes().size());
}

template <>
result<std::vector<uuid>> field::as<std::vector<uuid>>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::uuid_array);
    std::vector<uuid> out;
    if (auto ec =
            for_each_element(bytes(), oid::uuid, [&](auto item) { out.push_back(to_uuid(item.data())); }))
        return ec;
    return out;
}

template <>
result<std::vector<std::int64_t>> field::as<std::vector<std::int64_t>>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::int8_array);
    std::vector<std::int64_t> out;
    const auto add = [&](std::string_view item) { out.push_back(read_big<std::int64_t>(item.data())); };
    if (auto ec = for_each_element(bytes(), oid::int8, add))
        return ec;
    return out;
}

template <>
result<std::vector<std::string>> field::as<std::vector<std::string>>() const
{
    RESTANTE_EXPECT_TYPE(type() == oid::text_array);
    std::vector<std::string> out;
    if (auto ec = for_each_element(bytes(), oid::text, [&](auto item) { out.emplace_back(item); }))
        return ec;
    return out;
}

#undef RESTANTE_EXPECT_TYPE

void result_set::release::operator()(pg_result* r) const noexcept
{
    PQclear(r);
}

result_set::result_set(pg_result* owned) : handle_(owned) {}

int result_set::size() const
{
    return PQntuples(handle_.get());
}

std::int64_t result_set::affected() const
{
    return parse_signed_decimal(PQcmdTuples(handle_.get())).value_or(0);
}

std::string_view result_set::command() const
{
    return PQcmdStatus(handle_.get());
}

std::string result_set::text(int row, int column) const
{
    return PQgetvalue(handle_.get(), row, column);
}

std::size_t result_set::memory() const
{
    return PQresultMemorySize(handle_.get());
}

}  // namespace restante::pq
