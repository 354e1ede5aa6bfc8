#include "server/app/server_tls.hpp"

#include "http/net/self_signed.hpp"

namespace restante {

startup_result<tls_context> load_server_tls(const settings& config)
{
    if (!config.tls_cert.empty())
        return make_tls_context({config.tls_cert, config.tls_key});
    auto own = make_self_signed_if_needed(config.data_dir);
    if (!own)
        return own.error();
    return make_tls_context(*own);
}

}  // namespace restante
