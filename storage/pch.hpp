#pragma once

#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/pch.hpp"
