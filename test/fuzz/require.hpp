#pragma once

#include <cstdlib>

// What a fuzzer holds to be true of every input. libFuzzer keeps the input that ends the process.
inline void require(bool holds)
{
    if (!holds)
        std::abort();
}
