#pragma once

#include "core/error.hpp"
#include "storage/pq/types.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

struct pg_result;

namespace restante::pq {

// One value of a result, in PostgreSQL's binary format. as<T>() fails with wrong_column_type if the column
// does not hold a T, and with unexpected_null if it is NULL and T is not std::optional. Views
// (std::string_view, blob) live as long as the result_set.
class field {
public:
    field(const pg_result* from, int row, int column) : from_(from), row_(row), column_(column) {}

    bool is_null() const;

    template <class T>
    result<T> as() const;

private:
    unsigned type() const;
    std::string_view bytes() const;

    const pg_result* from_;
    int row_;
    int column_;
};

class row {
public:
    row(const pg_result* from, int index) : from_(from), index_(index) {}

    field operator[](int column) const { return {from_, index_, column}; }

    // The first columns, in order.
    template <class... T>
    result<std::tuple<T...>> as() const
    {
        return as_tuple<T...>(std::index_sequence_for<T...>{});
    }

    // A struct from its members' types; columns and members are in the same order.
    template <class Struct, class... T>
    result<Struct> into() const
    {
        auto values = as<T...>();
        if (!values)
            return values.error();
        return std::apply([](T&... member) { return Struct{std::move(member)...}; }, *values);
    }

private:
    template <class... T, std::size_t... I>
    result<std::tuple<T...>> as_tuple(std::index_sequence<I...>) const
    {
        std::tuple<result<T>...> parts{(*this)[static_cast<int>(I)].template as<T>()...};
        error_code failure;
        ((failure = !failure && !std::get<I>(parts) ? std::get<I>(parts).error() : failure), ...);
        if (failure)
            return failure;
        return std::tuple<T...>{std::move(*std::get<I>(parts))...};
    }

    const pg_result* from_;
    int index_;
};

// The result of a statement.
class result_set {
public:
    explicit result_set(pg_result* owned);

    int size() const;
    bool empty() const { return size() == 0; }
    row operator[](int index) const { return {handle_.get(), index}; }

    // Every row as a T made of these columns, or the first conversion error.
    template <class T, class... Columns>
    result<std::vector<T>> all() const
    {
        std::vector<T> values;
        values.reserve(static_cast<std::size_t>(size()));
        for (int i = 0; i < size(); ++i) {
            auto value = (*this)[i].template into<T, Columns...>();
            if (!value)
                return value.error();
            values.push_back(std::move(*value));
        }
        return values;
    }

    // Rows affected by an INSERT, UPDATE or DELETE.
    std::int64_t affected() const;
    std::string_view command() const;
    std::size_t memory() const;
    // The raw bytes of a value: for results in text format, which only execute_script() returns.
    std::string text(int row, int column) const;

private:
    struct release {
        void operator()(pg_result* r) const noexcept;
    };
    std::unique_ptr<pg_result, release> handle_;
};

template <>
result<bool> field::as<bool>() const;
template <>
result<std::int32_t> field::as<std::int32_t>() const;
template <>
result<std::int64_t> field::as<std::int64_t>() const;
template <>
result<double> field::as<double>() const;
template <>
result<uuid> field::as<uuid>() const;
template <>
result<timestamp> field::as<timestamp>() const;
template <>
result<std::string_view> field::as<std::string_view>() const;
template <>
result<std::string> field::as<std::string>() const;
template <>
result<blob> field::as<blob>() const;
template <>
result<std::vector<uuid>> field::as<std::vector<uuid>>() const;
template <>
result<std::vector<std::int64_t>> field::as<std::vector<std::int64_t>>() const;
template <>
result<std::vector<std::string>> field::as<std::vector<std::string>>() const;

namespace detail {

template <class T>
struct optional_value;
template <class T>
struct optional_value<std::optional<T>> {
    using type = T;
};

}  // namespace detail

// Only for optionals: every other supported type is a specialisation above.
template <class T>
result<T> field::as() const
{
    using value_type = typename detail::optional_value<T>::type;
    if (is_null())
        return T{};
    auto value = as<value_type>();
    if (!value)
        return value.error();
    return T{std::move(*value)};
}

}  // namespace restante::pq
