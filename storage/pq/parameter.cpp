#include "storage/pq/parameter.hpp"

#include <boost/endian/conversion.hpp>

#include <bit>
#include <cstring>
#include <stdexcept>

namespace restante::pq {

namespace {

constexpr int text_format = 0;
constexpr int binary_format = 1;

template <class Int>
void put(char* out, Int value)
{
    const Int big = boost::endian::native_to_big(value);
    std::memcpy(out, &big, sizeof big);
}

template <class Int>
void append(std::string& out, Int value)
{
    char bytes[sizeof value];
    put(bytes, value);
    out.append(bytes, sizeof bytes);
}

void append_value(std::string& out, const uuid& id)
{
    append(out, std::int32_t{16});
    out.append(reinterpret_cast<const char*>(id.data), 16);
}

void append_value(std::string& out, std::int32_t value)
{
    append(out, std::int32_t{4});
    append(out, value);
}

void append_value(std::string& out, std::int64_t value)
{
    append(out, std::int32_t{8});
    append(out, value);
}

void append_value(std::string& out, timestamp value)
{
    append_value(out, static_cast<std::int64_t>((value - epoch).count()));
}

void append_value(std::string& out, std::string_view text)
{
    append(out, static_cast<std::int32_t>(text.size()));
    out.append(text);
}

void append_value(std::string& out, blob bytes)
{
    append_value(out, std::string_view(bytes.data(), bytes.size()));
}

template <class T>
void append_value(std::string& out, const std::optional<T>& value)
{
    if (value)
        append_value(out, *value);
    else
        append(out, std::int32_t{-1});
}

template <class T>
bool is_null(const T&)
{
    return false;
}

template <class T>
bool is_null(const std::optional<T>& value)
{
    return !value;
}

// The binary format of an array: dimensions, whether it contains a NULL, element type, then length and lower
// bound.
template <class T>
std::string encode_array(std::span<const T> values, unsigned element_oid)
{
    std::string out;
    const bool has_null = std::any_of(values.begin(), values.end(), [](const T& v) { return is_null(v); });
    append(out, std::int32_t{values.empty() ? 0 : 1});
    append(out, std::int32_t{has_null});
    append(out, static_cast<std::int32_t>(element_oid));
    if (values.empty())
        return out;
    append(out, static_cast<std::int32_t>(values.size()));
    append(out, std::int32_t{1});
    for (const auto& value : values)
        append_value(out, value);
    return out;
}

}  // namespace

void parameters::reserve(std::size_t count)
{
    values_.reserve(count);
    lengths_.reserve(count);
    formats_.reserve(count);
    scalars_.reserve(count);
}

void parameters::push(const char* data, std::size_t length, int format)
{
    if (values_.size() == values_.capacity())
        throw std::length_error("too many statement parameters");
    values_.push_back(data);
    lengths_.push_back(static_cast<int>(length));
    formats_.push_back(format);
}

// The place for the next one's bytes. It must not move any more.
char* parameters::scalar()
{
    if (scalars_.size() == scalars_.capacity())
        throw std::length_error("too many statement parameters");
    return scalars_.emplace_back().data();
}

void parameters::push_array(std::string encoded)
{
    const auto& kept = arrays_.emplace_back(std::move(encoded));
    push(kept.data(), kept.size(), binary_format);
}

std::size_t parameters::bytes() const
{
    std::size_t total = 0;
    for (const int length : lengths_)
        total += static_cast<std::size_t>(length);
    return total;
}

void parameters::add(std::nullopt_t)
{
    push(nullptr, 0, binary_format);
}

void parameters::add(bool value)
{
    char* out = scalar();
    *out = value ? 1 : 0;
    push(out, 1, binary_format);
}

void parameters::add(std::int32_t value)
{
    char* out = scalar();
    put(out, value);
    push(out, sizeof value, binary_format);
}

void parameters::add(std::int64_t value)
{
    char* out = scalar();
    put(out, value);
    push(out, sizeof value, binary_format);
}

void parameters::add(double value)
{
    char* out = scalar();
    put(out, std::bit_cast<std::int64_t>(value));
    push(out, sizeof value, binary_format);
}

void parameters::add(const uuid& value)
{
    char* out = scalar();
    std::memcpy(out, value.data, 16);
    push(out, 16, binary_format);
}

void parameters::add(timestamp value)
{
    add(static_cast<std::int64_t>((value - epoch).count()));
}

void parameters::add(std::string_view text)
{
    // A null pointer would mean NULL; an empty text must remain an empty text.
    push(text.data() ? text.data() : "", text.size(), binary_format);
}

void parameters::add(blob bytes)
{
    push(bytes.data() ? bytes.data() : "", bytes.size(), binary_format);
}

void parameters::add(jsonb value)
{
    push(value.c_str, std::strlen(value.c_str), text_format);
}

void parameters::add(std::span<const uuid> values)
{
    push_array(encode_array(values, oid::uuid));
}

void parameters::add(std::span<const std::int32_t> values)
{
    push_array(encode_array(values, oid::int4));
}

void parameters::add(std::span<const std::int64_t> values)
{
    push_array(encode_array(values, oid::int8));
}

void parameters::add(std::span<const timestamp> values)
{
    push_array(encode_array(values, oid::timestamptz));
}

void parameters::add(std::span<const std::string_view> values)
{
    push_array(encode_array(values, oid::text));
}

void parameters::add(std::span<const blob> values)
{
    push_array(encode_array(values, oid::bytea));
}

void parameters::add(std::span<const std::optional<uuid>> values)
{
    push_array(encode_array(values, oid::uuid));
}

void parameters::add(std::span<const std::optional<std::int64_t>> values)
{
    push_array(encode_array(values, oid::int8));
}

void parameters::add(std::span<const std::optional<std::string_view>> values)
{
    push_array(encode_array(values, oid::text));
}

}  // namespace restante::pq
