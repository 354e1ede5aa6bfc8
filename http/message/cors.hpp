#pragma once

#include "http/message/method_set.hpp"

#include <boost/container/static_vector.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace restante {

struct cors_field {
    std::string_view name;
    std::string value;
};
using cors_fields = boost::container::static_vector<cors_field, 6>;

// Which web pages may call: a list of origins, compared exactly (`https://canvas.example`), empty by default.
// `*` allows every page, and then the browser sends no credentials.
class cors_policy {
public:
    // `own_url` is where clients reach this server; empty when only a request can say.
    explicit cors_policy(std::vector<std::string> allowed_origins, std::string own_url = {});

    bool allows(std::string_view origin) const;

    // Whether it is the server's own, which needs no permission. Behind a proxy the Host may not tell.
    bool is_own(std::string_view origin) const;

    // Fields for an ordinary answer. `origin` is empty when the request has none; Vary tells caches that the
    // answer depends on it even then.
    cors_fields response_fields(std::string_view origin) const;

    // Fields for the 204 that answers OPTIONS with Origin and Access-Control-Request-Method. For an origin
    // that is not allowed they grant nothing, and the browser stops there.
    cors_fields preflight_fields(std::string_view origin, const method_set& allowed) const;

private:
    cors_fields permission_fields(std::string_view origin) const;

    std::vector<std::string> origins_;
    bool any_ = false;
    std::string own_url_;
};

}  // namespace restante
