// The bodies of Asio's TLS and of Beast, compiled once; core has the rest of Asio.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
