// SPDX-License-Identifier: Apache-2.0
//
// The hook before main() in a program that has this library in itself. All shared libraries are set up before
// the first constructor of the program runs, so this one, whichever it is, runs those behind it in a process
// that will never come to main(), and waits then: every static object is there. The first process goes on,
// and the C library runs the others as always. This works in a static program too, where nothing of the C
// library can be wrapped.
#include <cstdlib>

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include "frontends/lpf/launched_job.hpp"
#include "frontends/lpf/start.hpp"

extern "C" {
using constructor = void (*)(int, char**, char**);
// The linker's own.
extern const constructor __init_array_start[] __attribute__((visibility("hidden")));
extern const constructor __init_array_end[] __attribute__((visibility("hidden")));
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
}

namespace tutti::lpf {
namespace {

bool hooked = false;  // written once, before main()

// In a shared library of the program's the constructors of the program come later.
bool in_the_program() {
  const auto* own = reinterpret_cast<const char*>(&__ehdr_start) + __ehdr_start.e_phoff;
  return reinterpret_cast<const char*>(getauxval(AT_PHDR)) == own;
}

__attribute__((constructor)) void before_main(int argc, char** argv, char** environment) {
  if (!in_the_program()) return;
  hooked = true;
  if (!launched_job::is_wanted()) return;
  const int code = launched_job::join(argc, argv, [=] {
    const constructor* next = __init_array_start;
    while (next != __init_array_end && *next != &before_main) ++next;
    while (next != __init_array_end && ++next != __init_array_end) (*next)(argc, argv, environment);
  });
  if (code != launched_job::go_on_to_main) std::exit(code);
}

}  // namespace

bool start_was_hooked() noexcept { return hooked; }

}  // namespace tutti::lpf
