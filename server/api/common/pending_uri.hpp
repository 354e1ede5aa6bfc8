#pragma once

#include "core/ids.hpp"

#include <string>

namespace restante {

// How clients name a staged file: platform-pending:<workspace>/<file>.
inline std::string pending_uri(const uuid& workspace, const uuid& file)
{
    std::string uri = "platform-pending:";
    append_to(uri, workspace);
    uri += '/';
    append_to(uri, file);
    return uri;
}

}  // namespace restante
