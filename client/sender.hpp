#pragma once

#include "client/outgoing_file.hpp"
#include "client/reporter.hpp"
#include "client/server_api.hpp"
#include "client/token_facts.hpp"
#include "core/worker_pool.hpp"

#include <boost/json/array.hpp>

#include <functional>

namespace restante::client {

// Uploads files, sends the message about them, and follows their receipts.
class sender {
public:
    sender(executor ex, const settings& config, server_api& api, worker_pool& workers, reporter& out);

    awaitable<exit_code> run(const std::vector<outgoing_file>& files);

private:
    using attempt = std::function<awaitable<outcome<answer>>()>;

    awaitable<outcome<void>> send_all(const std::vector<outgoing_file>& files);
    awaitable<outcome<void>> send_batch(std::span<const outgoing_file> files);
    awaitable<outcome<answer>> upload_once(std::span<const outgoing_file> files, const std::string& key);
    awaitable<std::optional<token_facts>> ask_for_token_facts();
    awaitable<std::string> what_is_left();
    awaitable<outcome<void>> may_send_message();
    awaitable<outcome<void>> send_message();
    awaitable<outcome<void>> wait_for_receipts();
    awaitable<outcome<bool>> ask_for_receipt(const std::string& file_id, const std::string& name);
    // Repeats it until an answer decides: a good one, or a refusal. Fails with that, or with what failed last
    // when the time is over.
    awaitable<outcome<answer>> until_decided(const attempt& once, std::string_view what);

    executor executor_;
    const settings& config_;
    server_api& api_;
    worker_pool& workers_;
    reporter& out_;
    amount sent_;
    amount rest_;                       // not sent
    std::vector<std::string> digests_;  // of the last upload
    boost::json::array staged_;         // what the server said about each file
};

// The message that names these files, as A2A 0.3 has it.
std::string make_message(const std::string& text, const boost::json::array& files, const std::string& id);

}  // namespace restante::client
