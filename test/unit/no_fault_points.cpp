// Compiled like a release, without sanitizers: a call that the compiler can evaluate does nothing at run
// time.
#include "core/fault_point.hpp"

#ifdef RESTANTE_FAULT_POINTS
#error "a build without sanitizers must not have fault points"
#endif

static_assert((restante::fault_point("committed"), restante::fault_point("after_flush", "commit"), true));
static_assert(!restante::fault_is_due("mid_answer"));
