#pragma once

#include "client/disk.hpp"
#include "client/settings.hpp"

#include <optional>

namespace restante::client {

// A token that is typed, given in the environment or made by registering is stored; of any other one its
// source is named.
bool stores_token(const settings& config);

// What login writes: the file that the next command reads, and the token beside it.
class login_files {
public:
    // As far as it can be done before the token is known. Fails with bad_setting when a value cannot be in
    // such a file, and with what the disk fails with. Nothing is left of files that are not stored.
    static outcome<login_files> prepare(const settings& config, const places& where);

    outcome<void> store(const std::string& token);

    // Where the token of another workspace is kept that this login has taken the place of, or empty: its
    // server gave it once.
    const std::string& kept() const { return kept_; }

private:
    login_files(unique_fd folder, std::string text, replacement conf)
        : folder_(std::move(folder)), text_(std::move(text)), conf_(std::move(conf))
    {
    }

    void keep_replaced();

    unique_fd folder_;
    std::string path_;       // of the token
    std::string workspace_;  // the one that is replaced; empty when it is the same
    std::string kept_;
    std::string text_;  // of conf_
    replacement conf_;
    std::optional<replacement> token_;
};

// The text of client.conf with these keys set to these values, or without them where the value is empty.
// Other lines and comments stay as they are.
std::string with_settings(std::string_view text,
                          const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace restante::client
