#pragma once

#include "cli/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace restante {

// Where a setting is kept. The type of the member also says how its text is read and written.
using setting_member = std::variant<bool settings::*, unsigned settings::*, std::uint64_t settings::*,
                                    std::string settings::*, std::chrono::microseconds settings::*,
                                    std::chrono::milliseconds settings::*, host_port settings::*,
                                    std::vector<host_port> settings::*, std::vector<std::string> settings::*,
                                    log_level settings::*, registration_policy settings::*>;

// Who reads a setting: each of these also reads what those below it read.
enum class audience { serve, sweep, tools };

// One setting, with all that the command line, the environment, the config file and --help need to know of
// it.
struct option {
    std::string_view flag;  // without its dashes; the same word is the key in the config file
    std::string_view group;
    std::string_view value_name;  // empty: a switch
    setting_member member;
    std::string_view help;
    std::int64_t least = 0;  // bytes for sizes, microseconds for durations, letters for texts
    std::int64_t most = 0;
    audience widest = audience::serve;
};

std::span<const option> option_table();

// nullptr if there is none.
const option* find_option(std::string_view flag);

inline bool is_read_by(const option& o, audience who)
{
    return who <= o.widest;
}

bool is_list(const option& o);

// RESTANTE_DATABASE_URL for database-url.
std::string environment_name(const option& o);

// "a whole number from 0 to 256": completes the sentence "It must be …".
std::string allowed_values(const option& o);

// As it would be written on the command line; empty when the setting is off or has none.
std::string default_text(const option& o);

// Sets the member. If one of the values is not allowed, returns that one and leaves the settings as they
// were. Takes exactly one value unless the setting is a list.
std::optional<std::string> assign(settings& to, const option& o, std::span<const std::string> values);

}  // namespace restante
