#pragma once

#include "core/ids.hpp"
#include "core/secret_hash.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace restante::client {

// What the journal of a pull says. One line for each fact:
//
// - `placing FILE NAME`: its bytes are complete, checked and synced; it is about to be moved into the
// directory
// - `ran FILE`: its command has succeeded
// - `row ROW`: this row of the feed was delivered
// - `cursor ROW`: so was everything before it; the feed is read from here
//
// A line that was torn by a crash means nothing. What is remembered is bounded: the latest of each kind.
class journal_state {
public:
    static constexpr std::size_t most = 100'000;

    // Whole lines; an incomplete one at the end is left out.
    void read(std::string_view text);
    void apply(std::string_view line);

    bool is_delivered(const uuid& row) const { return rows_.contains(row); }
    const std::optional<uuid>& cursor() const { return cursor_; }
    // The name under which a file was placed, or was about to be.
    std::optional<std::string> placed_name(const uuid& file) const;
    bool has_run(const uuid& file) const { return ran_.contains(file); }
    // True when no row was ever delivered.
    bool is_new() const { return !cursor_ && rows_.size() == 0; }

    // The same facts in as few lines.
    std::string text() const;

private:
    // The latest ids, in the order in which they came.
    class recent_ids {
    public:
        bool contains(const uuid& id) const { return known_.contains(id); }
        std::size_t size() const { return known_.size(); }
        // The one that has to be forgotten for it.
        std::optional<uuid> add(const uuid& id);
        const std::deque<uuid>& order() const { return order_; }

    private:
        std::unordered_set<uuid, secret_hash> known_;
        std::deque<uuid> order_;
    };

    recent_ids rows_;
    recent_ids files_;
    recent_ids ran_;
    std::unordered_map<uuid, std::string, secret_hash> names_;
    std::optional<uuid> cursor_;
};

std::string placing_line(const uuid& file, std::string_view name);
std::string ran_line(const uuid& file);
std::string row_line(const uuid& row);
std::string cursor_line(const uuid& row);

}  // namespace restante::client
