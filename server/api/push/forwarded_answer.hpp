#pragma once

#include "core/asio.hpp"
#include "http/client/client_exchange.hpp"
#include "http/message/response.hpp"
#include "server/api/push/forward_record.hpp"

#include <memory>
#include <string>

namespace restante {

// What a workspace answered, as we pass it on: status and body unchanged, Content-Type, and for a download
// Content-Disposition, with what keeps a browser from running it. A small body is fetched here, and the first
// piece of a larger one, so that a failure can still be answered; the rest is fetched while it is sent. Either
// way its end is noted in the record, and a client that leaves ends it.
awaitable<result<response>> make_forwarded_answer(request_context& req, std::unique_ptr<client_exchange> from,
                                                  forward_record record, forward_kind kind, std::string host);

}  // namespace restante
