#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace restante {

// Whether a shard can do its work and, if not, why not. /readyz reports it to load balancers and operators.
class readiness {
public:
    // Returns one sentence while something is missing, free of secrets.
    using check = std::function<std::optional<std::string>()>;

    void add(check what) { checks_.push_back(std::move(what)); }

    // What does not work while the rest does.
    void add_degradation(std::function<std::vector<std::string>()> what) { degraded_ = std::move(what); }
    std::vector<std::string> degradations() const
    {
        return degraded_ ? degraded_() : std::vector<std::string>();
    }

    // Empty: ready.
    std::vector<std::string> reasons_not_ready() const
    {
        std::vector<std::string> reasons;
        for (const auto& what : checks_)
            if (auto reason = what())
                reasons.push_back(std::move(*reason));
        return reasons;
    }

private:
    std::vector<check> checks_;
    std::function<std::vector<std::string>()> degraded_;
};

}  // namespace restante
