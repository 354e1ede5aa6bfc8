#pragma once

#include "storage/content/content_key.hpp"
#include "storage/content/content_store.hpp"
#include "test/support/run.hpp"
#include "test/support/uploads.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace restante::test {

// A kind of store to try. `make` gives a store whose place is empty; the place is there as long as the
// factory is.
struct store_kind {
    std::string name;
    std::function<std::unique_ptr<content_store>(executor)> make;
    std::size_t many = 10'000;  // how many objects a long list has
};

inline void PrintTo(const store_kind& kind, std::ostream* out)
{
    *out << kind.name;
}

// What every content store outside of the rows has to do. The tests are in
// test/integration/content_conformance_test.cpp; another store is added with
// INSTANTIATE_TEST_SUITE_P(name, content_conformance, Values(kind), conformance_name).
class content_conformance : public ::testing::TestWithParam<store_kind> {
protected:
    template <class Body>
    void with_store(Body body)
    {
        run([&]() -> awaitable<void> {
            const executor ex = co_await asio::this_coro::executor;
            const auto store = GetParam().make(ex);
            co_await body(*store);
        });
    }

    static std::string noise(std::size_t size, unsigned seed = 1)
    {
        std::mt19937_64 random(seed);
        std::string text(size, '\0');
        for (std::size_t i = 0; i < size; i += 8) {
            const auto word = random();
            std::memcpy(text.data() + i, &word, std::min<std::size_t>(8, size - i));
        }
        return text;
    }

    static timestamp at(std::string_view rfc3339_text) { return parse_rfc3339(rfc3339_text).value(); }

    static content_to_store make(const std::string& text, bool on_disk = false,
                                 std::string_view when = "2026-11-16T18:30:00Z")
    {
        return {make_content_key(make_uuid_v7(), at(when)), std::make_shared<text_content>(text, on_disk),
                sha256_of(text)};
    }

    static awaitable<error_code> put(content_store& store, const content_to_store& file)
    {
        const std::vector<content_to_store> one{file};
        co_return co_await store.write(one);
    }

    static stored_content row_of(const content_to_store& file)
    {
        return {parse_content_key(file.key)->file, uuid{}, file.key, file.bytes->size(), file.sha256};
    }

    static awaitable<result<std::string>> read_all(content_reader& from, std::uint64_t length)
    {
        std::string text;
        while (text.size() < length) {
            const auto piece = co_await from.next();
            if (!piece)
                co_return piece.error();
            if (piece->empty())
                co_return RESTANTE_ERROR(errc::internal_error);
            text.append(piece->begin(), piece->end());
        }
        co_return text;
    }

    static awaitable<result<std::string>> get(content_store& store, stored_content what, content_part part)
    {
        auto reader = co_await store.open(std::move(what), part);
        if (!reader)
            co_return reader.error();
        co_return co_await read_all(**reader, part.length);
    }

    static awaitable<result<std::string>> get(content_store& store, const content_to_store& file)
    {
        const content_part whole{0, file.bytes->size()};
        auto what = row_of(file);
        co_return co_await get(store, std::move(what), whole);
    }

    static awaitable<error_code> remove(content_store& store, std::string key)
    {
        const std::vector<std::string> one{std::move(key)};
        const auto kept = co_await store.remove(one);
        if (!kept)
            co_return kept.error();
        co_return kept->empty() ? error_code{} : RESTANTE_ERROR(errc::content_store_unavailable);
    }
};

inline std::string conformance_name(const ::testing::TestParamInfo<store_kind>& info)
{
    return info.param.name;
}

}  // namespace restante::test
