#include "server/api/common/delivery.hpp"

namespace restante {

answerable<void> check_delivery(const workspace_facts& workspace)
{
    if (workspace.mode == delivery_mode::push && workspace.has_url)
        return refusal(errc::push_not_supported);
    if (workspace.mode != delivery_mode::poll || !workspace.can_stage)
        return refusal(errc::no_callback_url);
    return {};
}

}  // namespace restante
