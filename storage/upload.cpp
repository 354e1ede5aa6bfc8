#include "storage/upload.hpp"

namespace restante {

std::uint64_t upload::bytes() const
{
    std::uint64_t total = pending_uploads::inline_size(files);
    for (const auto& row : activities)
        total += row->what.request_body.value_or("").size() + row->what.response_body.value_or("").size();
    return total;
}

pq::lane upload::lane() const
{
    return bytes() > pending_uploads::small_request_bytes ? pq::lane::large
                                                          : pending_uploads::lane_for(files);
}

}  // namespace restante
