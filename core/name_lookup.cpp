#include "core/name_lookup.hpp"

#include "core/wakeup.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstring>
#include <map>
#include <mutex>
#include <netdb.h>
#include <utility>

namespace restante {

namespace {

// Apart from the threads that read and write files: a name server that is silent blocks a thread for many
// seconds. Enough of them that a few such names do not hold up everybody else's. They are never joined, so
// that none holds up the end of the process either.
asio::thread_pool& resolver_threads()
{
    static asio::thread_pool& threads = *new asio::thread_pool(16);
    return threads;
}

name_lookup::addresses ask_system(const std::string& name, name_lookup::kind kind)
{
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = kind == name_lookup::kind::reachable ? AI_ADDRCONFIG : 0;
    addrinfo* found = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0)
        return {};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    name_lookup::addresses all;
    for (const auto* each = found; each; each = each->ai_next) {
        tcp::endpoint endpoint;
        if (each->ai_addrlen > endpoint.capacity())
            continue;
        std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
        endpoint.resize(each->ai_addrlen);
        all.push_back(endpoint.address());
    }
    return all;
}

}  // namespace

// Shared by the one who asks and the thread that looks. The one who asks may give up; from then on nothing
// is posted to its shard, which may be gone.
class name_lookup::asker : public std::enable_shared_from_this<asker> {
public:
    explicit asker(executor home) : home_(home), done_(std::make_unique<wakeup>(home)) {}

    void receive(const addresses& found)
    {
        const std::lock_guard lock(mutex_);
        if (abandoned_)
            return;
        found_ = found;
        asio::post(home_, [self = shared_from_this()] { self->tell(); });
    }

    bool is_abandoned()
    {
        const std::lock_guard lock(mutex_);
        return abandoned_;
    }

    void abandon()
    {
        const std::lock_guard lock(mutex_);
        abandoned_ = true;
        done_.reset();  // with its shard
    }

    awaitable<std::optional<addresses>> wait_until(time_point moment, std::stop_token stop)
    {
        const std::stop_callback on_stop(stop, [this] { done_->notify_all(); });
        while (!finished_) {
            if (stop.stop_requested())
                co_return std::nullopt;
            if (!co_await done_->wait_until(moment))
                co_return std::nullopt;
        }
        co_return std::move(found_);
    }

private:
    // On the shard of the one who asked, as all that follows.
    void tell()
    {
        finished_ = true;
        if (done_)
            done_->notify_all();
    }

    std::mutex mutex_;
    executor home_;
    std::unique_ptr<wakeup> done_;
    addresses found_;
    bool finished_ = false;
    bool abandoned_ = false;
};

namespace {

// Who waits for which name. As long as the resolver has not answered, the same name is not asked for again:
// a silent name server takes one thread for each name, however often it is asked for. A name that nobody
// waits for any more when its turn comes is not asked for at all.
template <class Asker>
class questions {
public:
    using question = std::pair<std::string, name_lookup::kind>;

    static questions& all()
    {
        static questions& only = *new questions();  // its threads may outlive everything else
        return only;
    }

    void ask(question what, std::shared_ptr<Asker> who)
    {
        const std::lock_guard lock(mutex_);
        auto& waiting = waiting_[what];
        waiting.push_back(std::move(who));
        if (waiting.size() == 1)
            asio::post(resolver_threads(), [this, what = std::move(what)] { answer(what); });
    }

private:
    void answer(const question& what)
    {
        std::unique_lock lock(mutex_);
        auto& asking = waiting_.at(what);
        std::erase_if(asking, [](const auto& each) { return each->is_abandoned(); });
        if (asking.empty()) {
            waiting_.erase(what);
            return;
        }
        lock.unlock();
        const auto found = ask_system(what.first, what.second);
        lock.lock();
        const auto waiting = waiting_.extract(what);
        lock.unlock();
        for (const auto& each : waiting.mapped())
            each->receive(found);
    }

    std::mutex mutex_;
    std::map<question, std::vector<std::shared_ptr<Asker>>> waiting_;
};

}  // namespace

name_lookup::name_lookup(executor home, std::string name, kind wanted) : asker_(std::make_shared<asker>(home))
{
    questions<asker>::all().ask({std::move(name), wanted}, asker_);
}

name_lookup::~name_lookup()
{
    if (asker_)
        asker_->abandon();
}

name_lookup::name_lookup(name_lookup&&) noexcept = default;

awaitable<std::optional<name_lookup::addresses>> name_lookup::wait_until(time_point moment,
                                                                         std::stop_token stop)
{
    return asker_->wait_until(moment, std::move(stop));
}

}  // namespace restante
