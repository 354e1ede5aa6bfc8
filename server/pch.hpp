#pragma once

#include "http/pch.hpp"
