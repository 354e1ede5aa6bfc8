// A library to preload (LD_PRELOAD) into a program whose wall clock a test sets. The file RESTANTE_CLOCK holds
// the difference in seconds, eight bytes that are read anew at every call; the monotonic clock and all timers
// stay what they are, as when somebody sets the clock of a machine.
//
// libfaketime moves absolute timers too, also those of the monotonic clock: a shard whose timer was due at once
// then slept for as long as the clock had jumped.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

std::int64_t shift()
{
    static const auto* const kept = [] {
        const char* path = std::getenv("RESTANTE_CLOCK");
        const int file = path ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
        void* const mapped =
            file < 0 ? MAP_FAILED : ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
        if (mapped == MAP_FAILED)
            std::abort();  // a test of jumps that sees none would pass
        ::close(file);
        return static_cast<const std::atomic<std::int64_t>*>(mapped);
    }();
    return kept->load(std::memory_order_relaxed);
}

}  // namespace

extern "C" int clock_gettime(clockid_t which, timespec* into) noexcept
{
    const auto failed = static_cast<int>(::syscall(SYS_clock_gettime, which, into));
    if (failed == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
        into->tv_sec += shift();
    return failed;
}

extern "C" std::time_t time(std::time_t* into) noexcept
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (into)
        *into = now.tv_sec;
    return now.tv_sec;
}

extern "C" int gettimeofday(timeval* into, void*) noexcept
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    *into = {now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
