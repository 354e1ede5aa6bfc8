#pragma once

#include <string_view>

// Only sanitizer builds, which are the test builds, have fault points, so that no setting can enable one in a
// release and no two files of a program can disagree.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESTANTE_FAULT_POINTS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESTANTE_FAULT_POINTS
#endif
#endif

namespace restante {

// A place where a test can make the server fail. The environment variable RESTANTE_FAULT names a file. Once a
// test has written one line into it, such as `committed kill 1`, the server counts how often it reaches that
// place; at the given count it removes the file and performs the action:
//
//   kill    ends the process, as kill -9 does
//   stop    stops it until SIGCONT
//   drop    shuts down all of its database connections
//   throw   throws std::bad_alloc
//
// `what` distinguishes the uses of a shared place: `after_flush/commit`. In any other build both functions do
// nothing, which test/unit/no_fault_points.cpp verifies at compile time.
#ifdef RESTANTE_FAULT_POINTS
void fault_point(std::string_view place, std::string_view what = {});
// True if the next fault_point() at this place would act.
bool fault_is_due(std::string_view place);
#else
constexpr void fault_point(std::string_view, std::string_view = {}) {}
constexpr bool fault_is_due(std::string_view)
{
    return false;
}
#endif

}  // namespace restante
