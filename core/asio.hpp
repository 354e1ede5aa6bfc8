#pragma once

// The project's Asio types, bound to the concrete executor of a shard's io_context. A shard is one thread, so
// type erasure buys nothing: the concrete executor saves an indirect call and often an allocation per await.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace restante {

namespace asio = boost::asio;

using executor = asio::io_context::executor_type;

template <class T = void>
using awaitable = asio::awaitable<T, executor>;

using tcp = asio::ip::tcp;
using tcp_socket = asio::basic_stream_socket<tcp, executor>;
using tcp_acceptor = asio::basic_socket_acceptor<tcp, executor>;
using steady_timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                                asio::wait_traits<std::chrono::steady_clock>, executor>;

// co_await op(use_await) throws on failure; auto [ec, n] = co_await op(use_tuple) does not.
inline constexpr asio::use_awaitable_t<executor> use_await{};
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<executor>> use_tuple{};

}  // namespace restante
