#pragma once

#include "core/pch.hpp"

#include <gtest/gtest.h>
