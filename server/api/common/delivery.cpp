#include "server/api/common/delivery.hpp"

namespace restante {

answerable<delivery> decide_delivery(const workspace_facts& workspace)
{
    if (workspace.mode == delivery_mode::poll) {
        if (!workspace.can_stage)
            return refusal(errc::no_callback_url);
        return delivery::stage;
    }
    // A row from before the modes existed is called if it says where.
    if (workspace.has_url)
        return delivery::forward;
    if (workspace.mode == delivery_mode::push)
        return refusal(errc::callback_url_missing);
    return refusal(errc::no_callback_url);
}

refusal refuse_message_size(std::uint64_t cap)
{
    return {errc::message_too_large, {{"truncated", true}, {"max_bytes", cap}}};
}

}  // namespace restante
