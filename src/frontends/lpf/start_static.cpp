// SPDX-License-Identifier: Apache-2.0
//
// The hook before main() in a program that contains this library. All shared libraries are
// initialized before the first constructor of the program runs. In a process that never reaches
// main(), this constructor runs those behind it, and then waits. So every static object exists. The
// first process returns, and the C library runs the other constructors. This also works in
// a static program, where no function of the C library can be replaced.
#include <cstdlib>

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "frontends/lpf/launched_job.hpp"
#include "frontends/lpf/start.hpp"

extern "C" {
using constructor = void (*)(int, char**, char**);
// Defined by the linker.
extern const constructor __init_array_start[] __attribute__((visibility("hidden")));
extern const constructor __init_array_end[] __attribute__((visibility("hidden")));
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
}

namespace tutti::lpf {
namespace {

bool hooked = false;  // written once, before main()

// Returns false in a shared library of the program. There the constructors of the program run
// later.
bool in_the_program() {
  const auto* headers = reinterpret_cast<const char*>(&__ehdr_start) + __ehdr_start.e_phoff;
  return reinterpret_cast<const char*>(getauxval(AT_PHDR)) == headers;
}

__attribute__((constructor)) void before_main(int argc, char** argv, char** environment) {
  if (!in_the_program()) return;
  hooked = true;
  if (!launched_job::is_required()) return;
  const int code = launched_job::join(argc, argv, [=] {
    const constructor* next = __init_array_start;
    while (next != __init_array_end && *next != &before_main) ++next;
    while (next != __init_array_end && ++next != __init_array_end) (*next)(argc, argv, environment);
  });
  if (code != launched_job::continue_to_main) std::exit(code);
}

}  // namespace

bool start_was_hooked() noexcept { return hooked; }

}  // namespace tutti::lpf
