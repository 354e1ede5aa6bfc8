#pragma once

#include "auth/identity_notices.hpp"
#include "auth/principal.hpp"
#include "core/asio.hpp"
#include "core/metrics.hpp"
#include "core/secret_hash.hpp"
#include "server/events/token_watch.hpp"

#include <boost/intrusive/list.hpp>

#include <unordered_map>

namespace restante {

// The requests of one shard that wait for something to get further: a feed, a file. A parked request holds
// its connection to the client and a place here, and nothing of the database. Each remembers how far it has
// read, so that only news wake it: ten thousand requests that all look again for nothing would be turned away
// by the database's queue.
class parked_requests : public identity_listener, public token_holder {
    using hook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

public:
    static constexpr std::size_t most = 50'000;

    // One request's place, for as long as it lives. Taken before the database is read, so that what is
    // committed between the read and the wait is not missed: wait() then returns at once.
    class place : public hook {
    public:
        // `about` is what it waits for; the principal must outlive it.
        place(parked_requests& of, const uuid& about, const principal& who);
        ~place();
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        bool granted() const { return granted_; }
        // Its token has been revoked, or its workspace removed.
        bool refused() const { return refused_; }

        // Clears the wake-ups so far: call it before the database is read.
        void look_again() { rung_ = false; }
        // What it has read is complete up to here.
        void has_seen(std::int64_t reached) { seen_ = std::max(seen_, reached); }

        // Until woken, or until the deadline.
        awaitable<void> wait(std::chrono::steady_clock::time_point until);
        void ring();

    private:
        friend class parked_requests;
        void refuse();

        parked_requests& of_;
        uuid about_;
        const principal& who_;
        steady_timer timer_;
        std::int64_t seen_ = -1;
        bool granted_;
        bool rung_ = false;
        bool refused_ = false;
    };

    // What is waited for has reached this number: wakes the requests that have not seen that.
    void wake(const uuid& about, std::int64_t reached);

    void on_token_revoked(const uuid& token) noexcept override;
    void on_workspace_removed(const uuid& workspace) noexcept override;
    void add_tokens(std::vector<digest32>& to) const override;
    void refuse_token(const digest32& hash) override;

protected:
    parked_requests(executor ex, metric_set::number& parked) : ex_(ex), parked_(parked) {}

    bool empty() const { return count_ == 0; }
    void add_awaited(std::vector<uuid>& to) const;
    // The workspaces whose own agent waits here.
    void add_agents(std::vector<uuid>& to) const;

private:
    template <class Predicate>
    void refuse_if(Predicate unwanted);

    using places = boost::intrusive::list<place, boost::intrusive::constant_time_size<false>>;

    executor ex_;
    metric_set::number& parked_;
    std::unordered_map<uuid, places, secret_hash> lines_;
    std::size_t count_ = 0;
};

}  // namespace restante
