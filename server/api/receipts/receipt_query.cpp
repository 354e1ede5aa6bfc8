#include "server/api/receipts/receipt_query.hpp"

#include "http/message/query_reader.hpp"
#include "server/api/common/wait_parameter.hpp"

namespace restante {

namespace {

std::optional<upload_state> parse_until(std::string_view text)
{
    for (const auto state : {upload_state::fetched, upload_state::acked})
        if (text == to_string(state))
            return state;
    return std::nullopt;
}

}  // namespace

answerable<receipt_request> read_receipt_query(const query_params& query)
{
    query_reader read(query);
    receipt_request out;
    out.wait = read.value("wait", "a number of seconds", parse_wait).value_or(out.wait);
    out.until = read.value("until", "fetched or acked", parse_until).value_or(out.until);
    if (read.refused())
        return *read.refused();
    return out;
}

}  // namespace restante
