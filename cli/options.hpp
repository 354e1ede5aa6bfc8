#pragma once

#include "cli/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace restante {

// The member that holds a setting. Its type also determines how the text is parsed and formatted.
using setting_member =
    std::variant<bool settings::*, unsigned settings::*, std::uint64_t settings::*, std::string settings::*,
                 std::chrono::microseconds settings::*, std::chrono::milliseconds settings::*,
                 host_port settings::*, std::vector<host_port> settings::*,
                 std::vector<std::string> settings::*, std::vector<host_name> settings::*,
                 std::vector<callback_net> settings::*, log_level settings::*,
                 registration_policy settings::*, peer_policy settings::*, acked_content settings::*,
                 web_page settings::*, content_home settings::*, base_url settings::*>;

// Which commands read a setting: each audience also reads the settings of those after it.
enum class audience { serve, sweep, tools };

// One setting, with everything that the command line, the environment, the config file and --help need.
struct option {
    std::string_view flag;  // without dashes; also the key in the config file
    std::string_view group;
    std::string_view value_name;  // empty: a switch
    setting_member member;
    std::string_view help;
    std::int64_t least = 0;  // bytes for sizes, microseconds for durations, characters for texts
    std::int64_t most = 0;
    audience widest = audience::serve;
    bool reloads = false;  // SIGHUP changes it while the server runs
};

std::span<const option> option_table();

// nullptr if there is none.
const option* find_option(std::string_view flag);

inline bool is_read_by(const option& o, audience who)
{
    return who <= o.widest;
}

bool is_list(const option& o);

// The values that it takes, if these are a closed set.
std::vector<std::string_view> choices(const option& o);

// RESTANTE_DATABASE_URL for database-url.
std::string environment_name(const option& o);

// "a whole number from 0 to 256": completes the sentence "It must be …".
std::string allowed_values(const option& o);

// As written on the command line; empty if the setting is off or has no default.
std::string default_text(const option& o);

// Whether both have the same value of this setting.
bool is_same(const settings& one, const settings& other, const option& o);

// Sets the member. If a value is not allowed, returns that value and leaves the settings unchanged. Takes
// exactly one value unless the setting is a list.
std::optional<std::string> assign(settings& to, const option& o, std::span<const std::string> values);

}  // namespace restante
