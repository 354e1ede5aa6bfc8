#include "cli/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace restante {

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    // One row of the usual table: row[j] is the distance between the part of a read so far and the first j
    // letters of b.
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates)
{
    // A long input would cost its length times every candidate, and is close to none of them.
    if (word.size() < 2 || word.size() > 64)
        return {};
    std::string_view best;
    std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const auto candidate : candidates) {
        const bool is_prefix = word.size() >= 3 && candidate.starts_with(word);
        const std::size_t distance = is_prefix ? 1 : edit_distance(word, candidate);
        if (distance < best_distance && distance < word.size()) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace restante
