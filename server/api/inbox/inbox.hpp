#pragma once

#include "http/routing/handler.hpp"

namespace restante {

// The feed: read it, be told when it grows, add to it, remember how far one has read.
handler_function handle_activity;
handler_function handle_activity_report;
handler_function handle_a2a;
handler_function handle_cursor_read;
handler_function handle_cursor_advance;

// Staged files: list, fetch, ack.
handler_function handle_pending_list;
handler_function handle_content;
handler_function handle_ack;
handler_function handle_ack_batch;

}  // namespace restante
