#pragma once

#include "http/pch.hpp"

#include <string>
#include <vector>
