// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/report_error.hpp"

#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>

#include "tutti/error.hpp"

namespace tutti::lpf {
namespace {

// The library's own exceptions begin with its name. Those of this operation continue with the name
// of the operation.
void print_error(const char* operation, std::string_view what) noexcept {
  if (what.starts_with("tutti: ")) what.remove_prefix(7);
  const bool named = what.starts_with(operation);
  std::fprintf(stderr, "tutti: %s%s%.*s\n", named ? "" : operation, named ? "" : ": ",
               static_cast<int>(what.size()), what.data());
}

}  // namespace

void report_error(const char* operation, int process, const char* argument, const std::string& problem,
                  const char* remedy) noexcept {
  try {
    std::fprintf(stderr, "%s\n", usage_error(operation, process, argument, problem, remedy).what());
  } catch (...) {
    std::fprintf(stderr, "tutti: %s: %s\n", operation, problem.c_str());
  }
}

lpf_err_t report_exception(const char* operation) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    print_error(operation, "out of memory");
    return LPF_ERR_OUT_OF_MEMORY;
  } catch (const std::system_error& e) {
    print_error(operation, e.what());
    return LPF_ERR_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    print_error(operation, e.what());
  } catch (...) {
    print_error(operation, "an exception that is not a std::exception");
  }
  return LPF_ERR_FATAL;
}

}  // namespace tutti::lpf
