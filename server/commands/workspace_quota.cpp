#include "server/commands/workspace_quota.hpp"

#include "cli/config_values.hpp"
#include "server/api/workspaces/quota_form.hpp"
#include "server/commands/plain_words.hpp"
#include "server/commands/stores.hpp"

#include <boost/json/serialize.hpp>

#include <cmath>
#include <iostream>

namespace restante {

namespace {

// False when the text is neither empty (unchanged), `default`, nor a number as `parse` reads it.
template <class Parse>
bool read_limit(const std::string& text, Parse parse, std::optional<std::optional<std::int64_t>>& to)
{
    if (text.empty())
        return true;
    if (text == "default") {
        to.emplace();
        return true;
    }
    const std::optional<std::int64_t> number = parse(text);
    if (!number || *number < 0)
        return false;
    to.emplace(*number);
    return true;
}

std::string limit_text(const std::string& used, std::int64_t limit, const std::string& of, bool own)
{
    const std::string whose = own ? "" : " (the default)";
    return used + (limit > 0 ? " of " + of + whose : ", without a limit" + whose);
}

void print(const workspace_quota& now)
{
    const auto percent = static_cast<std::int64_t>(std::floor(100 * share_used(now)));
    std::cout << "Bytes  "
              << limit_text(in_bytes(now.used.bytes), now.limits.bytes, in_bytes(now.limits.bytes),
                            now.own.bytes.has_value())
              << "\nFiles  "
              << limit_text(with_separators(now.used.files), now.limits.files,
                            with_separators(now.limits.files), now.own.files.has_value())
              << "\nUsed   " << percent << " %\n";
}

awaitable<result<void>> change_and_show(command_stores on, uuid workspace, quota_change what, bool as_json)
{
    if (what.bytes || what.files) {
        const auto changed = co_await on.quotas.change(workspace, what);
        if (!changed)
            co_return changed.error();
    }
    const auto now = co_await on.quotas.read(workspace);
    if (!now)
        co_return now.error();
    if (as_json)
        std::cout << boost::json::serialize(quota_json(*now)) << '\n';
    else
        print(*now);
    co_return result<void>();
}

}  // namespace

int run_workspace_quota(const command& asked)
{
    quota_change what;
    if (!read_limit(asked.own.bytes, parse_size, what.bytes)) {
        std::cerr << "--bytes must be a size such as 500MiB, 0 for no limit, or default, but "
                  << in_quotes(asked.own.bytes) << " was given.\n";
        return usage_error::exit_code;
    }
    if (!read_limit(asked.own.files, parse_whole_number, what.files)) {
        std::cerr << "--files must be a whole number, 0 for no limit, or default, but "
                  << in_quotes(asked.own.files) << " was given.\n";
        return usage_error::exit_code;
    }
    return with_stores(asked.config, [&](command_stores on) {
        return change_and_show(on, *parse_uuid(asked.arguments[0]), what, asked.own.json);
    });
}

}  // namespace restante
