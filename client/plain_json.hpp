#pragma once

#include <boost/json/value.hpp>

namespace restante::client {

// Makes of it what every reader of JSON takes: a number that is none (a message may say 1e999, which no
// double holds) is null, and a text is UTF-8, which a name of a file need not be.
void make_plain(boost::json::value& of);
void make_plain(boost::json::object& of);

}  // namespace restante::client
