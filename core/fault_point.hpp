#pragma once

#include <string_view>

// The sanitizers' builds are the tests' builds. They alone have fault points, so that no setting can bring
// one into a release, and no two files of a program can disagree about it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESTANTE_FAULT_POINTS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RESTANTE_FAULT_POINTS
#endif
#endif

namespace restante {

// A place where a test can make the server fail. The environment variable RESTANTE_FAULT
// names a file; once a test has written one line into it, as `committed kill 1`, the server does that when it
// comes to that place for that time, counted from then on, and removes the file first:
//
//   kill    ends the process, as kill -9 does
//   stop    stops it until somebody sends SIGCONT
//   drop    cuts every connection that the process has to the database
//   throw   throws std::bad_alloc
//
// `what` tells apart what one place does for several: `after_flush/commit`. In any other build both functions
// are nothing, which test/unit/no_fault_points.cpp has the compiler prove.
#ifdef RESTANTE_FAULT_POINTS
void fault_point(std::string_view place, std::string_view what = {});
// Whether fault_point() would do something here and now.
bool fault_is_due(std::string_view place);
#else
constexpr void fault_point(std::string_view, std::string_view = {}) {}
constexpr bool fault_is_due(std::string_view)
{
    return false;
}
#endif

}  // namespace restante
