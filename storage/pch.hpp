#pragma once

#include "core/pch.hpp"

#include "core/error.hpp"
#include "core/ids.hpp"
