// The separately compiled parts of Asio's TLS and of Beast; core has the rest of Asio.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
