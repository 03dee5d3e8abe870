#include "suite.hpp"
const std::span<const suite::entry> suite::tests;
