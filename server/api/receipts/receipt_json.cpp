#include "server/api/receipts/receipt_json.hpp"

#include "core/encoding.hpp"
#include "core/json_text.hpp"

namespace restante {

std::string receipt_json(const receipt& of)
{
    std::string out;
    append_member(out, R"({"file_id":)", of.file_id);
    append_member(out, R"(,"name":)", of.filename);
    append_member(out, R"(,"original_name":)", of.original_name);
    append_member(out, R"(,"mimeType":)", of.mimetype);
    append_member(out, R"(,"size":)", of.size);
    append_member(out, R"(,"sha256":)", to_hex(of.sha256));
    append_member(out, R"(,"state":)", to_string(of.state));
    append_member(out, R"(,"staged_at":)", of.staged_at);
    append_member(out, R"(,"fetched_at":)", of.fetched_at);
    append_member(out, R"(,"acked_at":)", of.acked_at);
    append_member(out, R"(,"expired_at":)", of.expired_at());
    append_member(out, R"(,"expires_at":)", of.expires_at);
    out += '}';
    return out;
}

}  // namespace restante
