#pragma once

#include "core/asio.hpp"

namespace restante {

class request_context;
struct response;
struct services;

// Every handler has this shape: who asks → what for → do it → answer. Foreseeable failures are answers
// (request_context::fail); an exception is a bug and becomes a 500 in the session.
using handler_function = awaitable<response>(request_context&, services&);

}  // namespace restante
