#include "http/client/name_resolver.hpp"

#include "core/wakeup.hpp"
#include "http/client/client_error.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstring>
#include <memory>
#include <mutex>
#include <netdb.h>

namespace restante {

namespace {

using addresses = std::vector<asio::ip::address>;

// Apart from the threads that read and write files: a name server that is silent blocks a thread for many
// seconds. They are never joined, so that it does not hold up the end of the process either.
asio::thread_pool& resolver_threads()
{
    static asio::thread_pool& threads = *new asio::thread_pool(4);
    return threads;
}

addresses ask_system(const std::string& name)
{
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_ADDRCONFIG;
    addrinfo* found = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0)
        return {};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    addresses all;
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

// Shared by the one who asks and the thread that looks. The one who asks may give up; from then on nothing
// is posted to its shard, which may be gone.
class lookup : public std::enable_shared_from_this<lookup> {
public:
    lookup(executor home, wakeup& done) : home_(home), done_(&done) {}

    void run(const std::string& name)
    {
        if (is_abandoned())
            return;
        auto found = ask_system(name);
        const std::lock_guard lock(mutex_);
        if (!done_)
            return;
        found_ = std::move(found);
        asio::post(home_, [self = shared_from_this()] { self->tell(); });
    }

    void abandon()
    {
        const std::lock_guard lock(mutex_);
        done_ = nullptr;
    }

    bool finished() const { return finished_; }
    addresses take() { return std::move(found_); }

private:
    bool is_abandoned()
    {
        const std::lock_guard lock(mutex_);
        return !done_;
    }

    // On the shard of the one who asked; only there is done_ reset.
    void tell()
    {
        finished_ = true;
        if (done_)
            done_->notify_all();
    }

    std::mutex mutex_;
    executor home_;
    wakeup* done_;
    addresses found_;
    bool finished_ = false;
};

class abandon_at_end {
public:
    explicit abandon_at_end(lookup& what) : what_(what) {}
    abandon_at_end(const abandon_at_end&) = delete;
    abandon_at_end& operator=(const abandon_at_end&) = delete;
    ~abandon_at_end() { what_.abandon(); }

private:
    lookup& what_;
};

}  // namespace

awaitable<result<addresses>> system_resolver::resolve(std::string name, time_point until)
{
    const executor home = co_await asio::this_coro::executor;
    wakeup done(home);
    const auto asked = std::make_shared<lookup>(home, done);
    const abandon_at_end guard(*asked);
    asio::post(resolver_threads(), [asked, name] { asked->run(name); });
    while (!asked->finished())
        if (!co_await done.wait_until(until))
            co_return client_errc::late;
    auto found = asked->take();
    if (found.empty())
        co_return client_errc::name_not_found;
    co_return found;
}

}  // namespace restante
