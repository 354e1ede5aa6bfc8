#include "storage/content/s3/health.hpp"

#include "core/log.hpp"

namespace restante::s3 {

bool health::admit(access how)
{
    const std::lock_guard lock(mutex_);
    const auto now = clock::now();
    if (how == access::write && !writes_.would_admit(now))
        return false;
    return all_.admit(now) && (how == access::read || writes_.admit(now));
}

void health::note(access how, const judgement& said)
{
    if (said.what == verdict::not_sent)
        return;
    const std::lock_guard lock(mutex_);
    const auto now = clock::now();
    last_note_ = now;
    doubtful_ = said.what == verdict::try_again || said.what == verdict::refused;
    switch (said.what) {
        case verdict::done:
        case verdict::missing:
            all_.succeeded();
            if (how == access::write)
                writes_.succeeded();
            break;
        case verdict::full:
            all_.succeeded();  // it is there, and what it has can be read
            writes_.failed(now);
            full_until_ = now + full_believed;
            words_ = said.words;
            break;
        case verdict::try_again:
        case verdict::refused:
            all_.failed(now);
            words_ = said.words;
            break;
        case verdict::not_sent: break;
    }
    if (!all_.open() && !is_full(now)) {
        if (!logged_.empty())
            log_line(log_level::info, "content_store_back").field("store", "s3");
        logged_.clear();
    } else if (logged_ != words_) {
        logged_ = words_;
        log_line(log_level::warn, "content_store_away").field("store", "s3").field("reason", words_);
    }
}

bool health::refuses(access how) const
{
    const std::lock_guard lock(mutex_);
    return all_.open() || (how == access::write && writes_.open() && !writes_.would_admit(clock::now()));
}

std::optional<std::string> health::trouble() const
{
    const std::lock_guard lock(mutex_);
    if (!all_.open() && !is_full(clock::now()))
        return std::nullopt;
    return words_;
}

bool health::wants_probe()
{
    const std::lock_guard lock(mutex_);
    const auto now = clock::now();
    if (all_.open())
        return all_.admit(now);
    if (!doubtful_ && now - last_note_ < quiet_interval)
        return false;
    last_note_ = now;
    doubtful_ = false;  // until the probe has said so
    return true;
}

}  // namespace restante::s3
