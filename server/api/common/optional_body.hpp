#pragma once

#include "http/message/json_reader.hpp"
#include "http/session/request_context.hpp"

#include <boost/json/value.hpp>

namespace restante {

// What a form reads from the JSON body; what it reads from `{}` when there is no body. The parsed body ends
// with this: it may take many times the memory of its text.
template <class Form>
awaitable<answerable<Form>> read_optional_body(request_context& req,
                                               answerable<Form> (*read)(const boost::json::value&))
{
    const auto text = co_await req.text_body();
    if (!text)
        co_return refusal(text.error());
    if (text->empty())
        co_return Form{};
    const auto body = parse_json(*text);
    if (!body)
        co_return refusal(body.error());
    co_return read(*body);
}

}  // namespace restante
