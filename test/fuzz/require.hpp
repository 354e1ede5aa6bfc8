#pragma once

#include <cstdlib>

// An invariant that must hold for every input. libFuzzer keeps the input that aborts the process.
inline void require(bool holds)
{
    if (!holds)
        std::abort();
}
