// SPDX-License-Identifier: Apache-2.0
//
// The hook before main() in a shared library. Its constructors run before those of the program,
// which is too early. The C library's start function receives main() and calls it after all
// constructors. The program refers to that function by name. This definition replaces it and passes
// another main() to the original.
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

#include "frontends/lpf/launched_job.hpp"
#include "frontends/lpf/start.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::lpf {
namespace {

using main_function = int (*)(int, char**, char**);
using start_function = int (*)(main_function, int, char**, void (*)(), void (*)(), void (*)(), void*);

main_function main_of_program = nullptr;  // written once, before main()

int main_or_wait(int argc, char** argv, char** environment) {
  if (launched_job::is_required()) {
    const int code = launched_job::join(argc, argv, [] {});
    if (code != launched_job::continue_to_main) return code;
  }
  return main_of_program(argc, argv, environment);
}

}  // namespace

bool start_was_hooked() noexcept { return main_of_program != nullptr; }

}  // namespace tutti::lpf

extern "C" TUTTI_API int __libc_start_main(tutti::lpf::main_function main, int argc, char** argv,
                                           void (*init)(), void (*fini)(), void (*rtld_fini)(),
                                           void* stack_end) {
  const auto real = reinterpret_cast<tutti::lpf::start_function>(dlsym(RTLD_NEXT, "__libc_start_main"));
  if (real == nullptr) {
    std::fputs("tutti: the C library does not define __libc_start_main\n", stderr);
    std::abort();
  }
  tutti::lpf::main_of_program = main;
  return real(&tutti::lpf::main_or_wait, argc, argv, init, fini, rtld_fini, stack_end);
}
