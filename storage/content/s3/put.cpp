#include "storage/content/s3/put.hpp"

#include "core/encoding.hpp"
#include "storage/content/s3/bodies.hpp"
#include "storage/content/s3/multipart_put.hpp"

namespace restante::s3 {

awaitable<error_code> put_object(session& to, std::string object, file_content& file, digest32 digest)
{
    const auto size = file.size();
    if (size > largest_single_put)
        co_return co_await put_in_parts(to, std::move(object), file);
    const call what{.method = boost::beast::http::verb::put, .object = object, .payload = to_hex(digest)};
    const auto attempt = [&]() -> awaitable<judgement> {
        file_part body(file, {0, size});
        const auto answer = co_await to.ask(what, &body, {.bytes = size});
        co_return answer.said;
    };
    co_return co_await to.repeat(access::write, attempt);
}

}  // namespace restante::s3
