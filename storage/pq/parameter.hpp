#pragma once

#include "storage/pq/types.hpp"

#include <boost/container/small_vector.hpp>

#include <array>
#include <deque>
#include <optional>
#include <string_view>

namespace restante::pq {

// The parameters of one statement, in the form that libpq expects. Text, blobs and JSON are referenced, not
// copied: they must live until the statement has been queued, which copies them into libpq's buffer. Scalars
// and arrays are encoded into the object.
class parameters {
public:
    // Without an allocation; a statement with more, one that writes several rows, says so with reserve().
    static constexpr std::size_t usual_count = 24;

    parameters() { reserve(usual_count); }
    template <class... T>
        requires(sizeof...(T) > 0)
    explicit parameters(const T&... values) : parameters()
    {
        static_assert(sizeof...(T) <= usual_count);
        (add(values), ...);
    }
    parameters(const parameters&) = delete;
    parameters& operator=(const parameters&) = delete;

    // Room for this many, before the first is added: libpq gets pointers into the object.
    void reserve(std::size_t count);

    void add(std::nullopt_t);
    void add(bool value);
    void add(std::int32_t value);
    void add(std::int64_t value);
    void add(double value);
    void add(const uuid& value);
    void add(timestamp value);
    void add(std::string_view text);
    void add(const std::string& text) { add(std::string_view(text)); }
    void add(const char* text) { add(std::string_view(text)); }
    void add(blob bytes);
    void add(jsonb value);
    template <class T>
    void add(const std::optional<T>& value)
    {
        if (value)
            add(*value);
        else
            add(std::nullopt);
    }

    // One-dimensional arrays; an empty one is '{}', an empty optional is a NULL element.
    void add(std::span<const uuid> values);
    void add(std::span<const std::int32_t> values);
    void add(std::span<const std::int64_t> values);
    void add(std::span<const timestamp> values);
    void add(std::span<const std::string_view> values);
    void add(std::span<const blob> values);
    void add(std::span<const std::optional<uuid>> values);
    void add(std::span<const std::optional<std::int64_t>> values);
    void add(std::span<const std::optional<std::string_view>> values);

    int count() const { return static_cast<int>(values_.size()); }
    const char* const* values() const { return values_.data(); }
    const int* lengths() const { return lengths_.data(); }
    const int* formats() const { return formats_.data(); }
    std::size_t bytes() const;

private:
    template <class T>
    using list = boost::container::small_vector<T, usual_count>;

    void push(const char* data, std::size_t length, int format);
    char* scalar();
    void push_array(std::string encoded);

    list<const char*> values_;
    list<int> lengths_;
    list<int> formats_;
    list<std::array<char, 16>> scalars_;
    std::deque<std::string> arrays_;
};

}  // namespace restante::pq
