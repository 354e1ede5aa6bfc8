#pragma once

#include <boost/beast/http/verb.hpp>

#include <string>

namespace restante {

// Whether RFC 9110 or RFC 5789 defines the method and this server knows it.
bool is_known_method(boost::beast::http::verb verb);

// The methods that a path answers, for Allow and for preflights.
class method_set {
public:
    // GET also adds HEAD. Methods that no route of ours can have are ignored.
    void insert(boost::beast::http::verb verb);
    bool contains(boost::beast::http::verb verb) const;
    // "GET, HEAD, OPTIONS"
    std::string to_string() const;

private:
    unsigned bits_ = 0;
};

}  // namespace restante
