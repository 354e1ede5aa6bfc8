#include "storage/feed_page.hpp"

namespace restante {

namespace {

constexpr int seq_column = 11;
constexpr int low_column = 15;
constexpr int large_column = 16;
constexpr int peer_name_column = 17;
constexpr int peer_role_column = 18;

}  // namespace

feed_page::feed_page(pq::result_set rows, bool with_peer_info, std::int64_t max_row_bytes)
    // An empty page is one row without an id, which distinguishes it from an unknown cursor.
    : rows_(std::move(rows)),
      with_peer_info_(with_peer_info),
      max_row_bytes_(max_row_bytes),
      size_(rows_.empty() || rows_[0][0].is_null() ? 0 : rows_.size())
{
}

feed_page feed_page::empty_after(std::int64_t seq)
{
    feed_page none(pq::result_set(nullptr), false, 0);
    none.nothing_after_ = seq;
    return none;
}

result<feed_row> feed_page::operator[](int index) const
{
    using text = std::string_view;
    const auto row = rows_[index];
    auto made =
        row.into<feed_row, uuid, uuid, text, std::optional<uuid>, std::optional<uuid>, std::optional<text>,
                 std::optional<text>, std::optional<std::int64_t>, text, std::optional<text>, timestamp,
                 std::int64_t, std::optional<text>, std::optional<text>, std::optional<text>>();
    if (!made)
        return made;
    if (!row[large_column].is_null()) {
        made->bodies_left_out = row[large_column].as<std::int64_t>().value() > max_row_bytes_;
        if (bodies_ || !made->bodies_left_out) {
            if (auto ec = read_bodies(*made))
                return ec;
        }
    }
    if (!with_peer_info_)
        return made;
    const auto name = row[peer_name_column].as<std::optional<text>>();
    const auto role = row[peer_role_column].as<std::optional<text>>();
    if (!name || !role)
        return !name ? name.error() : role.error();
    made->peer_name = *name;
    made->peer_role = *role;
    return made;
}

std::int64_t feed_page::reaches() const
{
    if (nothing_after_)
        return *nothing_after_;
    const auto last = rows_[empty() ? 0 : size_ - 1];
    return last[empty() ? low_column : seq_column].as<std::int64_t>().value();
}

std::size_t feed_page::memory() const
{
    return rows_.memory() + (bodies_ ? bodies_->memory() : 0);
}

bool feed_page::charge_to(memory_charge account)
{
    charge_ = std::move(account);
    return charge_.grow_to(memory());
}

std::vector<std::int64_t> feed_page::leave_room_for_bodies(std::int64_t max_bytes)
{
    std::vector<std::int64_t> seqs;
    std::int64_t total = 0;
    for (int i = 0; i < size_; ++i) {
        const auto large = rows_[i][large_column];
        if (large.is_null())
            continue;
        const auto bytes = large.as<std::int64_t>().value();
        total += bytes > max_row_bytes_ ? 0 : bytes;
        if (total > max_bytes && i > 0) {
            size_ = i;
            break;
        }
        seqs.push_back(rows_[i][seq_column].as<std::int64_t>().value());
    }
    return seqs;
}

error_code feed_page::read_bodies(feed_row& into) const
{
    using text = std::optional<std::string_view>;
    const auto seq_of = [this](int row) { return (*bodies_)[row][0].as<std::int64_t>().value(); };
    int found = 0;
    const int end = bodies_ ? bodies_->size() : 0;
    for (int past = end; found < past;) {
        const int middle = found + (past - found) / 2;
        if (seq_of(middle) < into.seq)
            found = middle + 1;
        else
            past = middle;
    }
    if (found == end || seq_of(found) != into.seq)
        return RESTANTE_ERROR(errc::database_busy);
    const auto rest =
        (*bodies_)[found].as<std::int64_t, text, text, std::string_view, text, text, text, text>();
    if (!rest)
        return rest.error();
    std::tie(std::ignore, into.method, into.summary, into.status, into.error_detail, into.request_body,
             into.response_body, into.tool_trace) = *rest;
    return {};
}

}  // namespace restante
