#include "server/api/openapi/fragments.hpp"

#include "core/error.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace restante {

namespace json = boost::json;

namespace {

json::object* section_of(api_fragments& all, std::string_view name)
{
    if (name == "operations")
        return &all.operations;
    if (name == "schemas")
        return &all.schemas;
    if (name == "errors")
        return &all.errors;
    if (name == "error_headers")
        return &all.error_headers;
    return name == "headers" ? &all.headers : nullptr;
}

}  // namespace

const json::object& object_at(const json::object& from, std::string_view name)
{
    static const json::object nothing;
    const auto* found = from.if_contains(name);
    return found && found->is_object() ? found->get_object() : nothing;
}

api_fragments read_fragments(std::span<const embedded_schema> texts, std::vector<std::string>& faults)
{
    api_fragments all;
    for (const auto& file : texts) {
        const auto fault = [&](std::string_view what) {
            faults.push_back(std::string(file.path).append(": ").append(what));
        };
        error_code ec;
        const auto read = json::parse(file.text, ec);
        const auto* sections = ec ? nullptr : read.if_object();
        if (!sections) {
            fault("is not a JSON object");
            continue;
        }
        for (const auto& [name, entries] : *sections) {
            auto* section = section_of(all, name);
            if (!section || !entries.is_object()) {
                fault("has no section of this name: " + std::string(name));
                continue;
            }
            for (const auto& entry : entries.get_object())
                if (!section->insert(entry).second)
                    fault("says something twice: " + std::string(entry.key()));
        }
    }
    return all;
}

}  // namespace restante
