#include "core/ids.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace restante {

namespace {

constexpr int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

// OpenSSL's generator costs about a microsecond per call; fetching many bytes at once makes an id nearly
// free.
void random_bytes(unsigned char* out, std::size_t n)
{
    thread_local std::array<unsigned char, 1024> store;
    thread_local std::size_t used = store.size();
    if (store.size() - used < n) {
        if (RAND_bytes(store.data(), static_cast<int>(store.size())) != 1)
            throw std::runtime_error("no random bytes from OpenSSL");
        used = 0;
    }
    std::memcpy(out, store.data() + used, n);
    used += n;
}

void set_version(uuid& id, int version)
{
    id.data[6] = static_cast<std::uint8_t>((id.data[6] & 0x0F) | (version << 4));
    id.data[8] = static_cast<std::uint8_t>((id.data[8] & 0x3F) | 0x80);
}

// Milliseconds since 1970, then 12 bits that count the ids of a millisecond: larger with every call, on
// whatever thread. The count of a new millisecond begins at a random number in the lower half, as RFC 9562
// advises; should it overflow, the ids run ahead of the clock.
std::uint64_t next_tick(std::uint64_t millis, std::uint64_t random)
{
    static std::atomic<std::uint64_t> last{0};
    const std::uint64_t fresh = millis << 12 | (random & 0x7FF);
    auto seen = last.load(std::memory_order_relaxed);
    std::uint64_t next;
    do
        next = std::max(fresh, seen + 1);
    while (!last.compare_exchange_weak(seen, next, std::memory_order_relaxed));
    return next;
}

}  // namespace

std::optional<uuid> parse_uuid(std::string_view text) noexcept
{
    if (text.size() != 36)
        return std::nullopt;
    uuid id;
    std::size_t at = 0;
    for (auto& byte : id.data) {
        if (at == 8 || at == 13 || at == 18 || at == 23) {
            if (text[at++] != '-')
                return std::nullopt;
        }
        const int high = hex_value(text[at]);
        const int low = hex_value(text[at + 1]);
        if (high < 0 || low < 0)
            return std::nullopt;
        byte = static_cast<std::uint8_t>(high << 4 | low);
        at += 2;
    }
    return id;
}

void append_to(std::string& out, const uuid& id)
{
    constexpr char digits[] = "0123456789abcdef";
    constexpr std::uint8_t places[] = {0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34};
    char text[] = "00000000-0000-0000-0000-000000000000";
    for (std::size_t i = 0; i < sizeof id.data; ++i) {
        text[places[i]] = digits[id.data[i] >> 4];
        text[places[i] + 1] = digits[id.data[i] & 0x0F];
    }
    out.append(text, sizeof text - 1);
}

std::string to_string(const uuid& id)
{
    std::string out;
    append_to(out, id);
    return out;
}

uuid make_uuid_v4()
{
    uuid id;
    random_bytes(id.data, sizeof id.data);
    set_version(id, 4);
    return id;
}

std::uint64_t make_random_bits()
{
    std::array<unsigned char, sizeof(std::uint64_t)> bytes;
    random_bytes(bytes.data(), bytes.size());
    return std::bit_cast<std::uint64_t>(bytes);
}

uuid make_uuid_v7()
{
    uuid id;
    random_bytes(id.data, sizeof id.data);
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
    auto tick = next_tick(static_cast<std::uint64_t>(millis),
                          static_cast<std::uint64_t>(id.data[6]) << 8 | id.data[7]);
    id.data[7] = static_cast<std::uint8_t>(tick);
    id.data[6] = static_cast<std::uint8_t>(tick >> 8);
    tick >>= 12;
    for (int i = 5; i >= 0; --i, tick >>= 8)
        id.data[i] = static_cast<std::uint8_t>(tick);
    set_version(id, 7);
    return id;
}

}  // namespace restante
