// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers belong to the process, so their state is kept once for the process. The handler
// itself reads only thread-local words.
#include "engines/embedded/stack_overflow.hpp"

#include <csignal>
#include <mutex>

#include <pthread.h>
#include <unistd.h>

#include "transport/shm/current_rank.hpp"

namespace tutti::detail {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local const std::byte *guards_begin = nullptr,
                                                                          *guards_end = nullptr;

constexpr int handled[] = {SIGSEGV, SIGBUS};

constexpr std::size_t signal_stack_bytes = 64 * 1024;

// A line on standard error, in one write, because several ranks may overflow at once. Async-signal-
// safe.
class signal_report {
 public:
  void add(const char* text) noexcept {
    while (*text != '\0' && used_ < sizeof line_) line_[used_++] = *text++;
  }
  void add(int n) noexcept {
    char digits[12];
    char* at = digits + sizeof digits;
    *--at = '\0';
    do *--at = static_cast<char>('0' + n % 10);
    while ((n /= 10) != 0);
    add(at);
  }
  void print() const noexcept {
    if (write(STDERR_FILENO, line_, used_) < 0) return;  // standard error is closed
  }

 private:
  char line_[128];
  std::size_t used_ = 0;
};

void report(int signal_number, siginfo_t* what, void*) {
  const auto* const at = static_cast<const std::byte*>(what->si_addr);
  const bool by_access = what->si_code > 0;
  if (by_access && at >= guards_begin && at < guards_end && shm::current_rank != nullptr) {
    signal_report line;
    line.add("tutti: stack overflow in ");
    if (const int rank = shm::rank_of_thread(); rank >= 0) {
      line.add("rank ");
      line.add(rank);
    } else {
      line.add("a rank");
    }
    line.add("; raise TUTTI_STACK\n");
    line.print();
  }
  std::signal(signal_number, SIG_DFL);
  if (!by_access) std::raise(signal_number);  // otherwise the faulting access is repeated
}

struct handler_state {
  std::mutex lock;
  int users = 0;
  bool installed[2] = {};
};
handler_state& handlers() {
  static handler_state one;
  return one;
}

}  // namespace

overflow_handler::overflow_handler() {
  handler_state& all = handlers();
  const std::lock_guard guard(all.lock);
  if (all.users++ != 0) return;
  for (int i = 0; i < 2; ++i) {
    struct sigaction current = {};
    all.installed[i] = sigaction(handled[i], nullptr, &current) == 0 &&
                       (current.sa_flags & SA_SIGINFO) == 0 && current.sa_handler == SIG_DFL;
    if (!all.installed[i]) continue;
    struct sigaction action = {};
    action.sa_sigaction = report;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    all.installed[i] = sigaction(handled[i], &action, nullptr) == 0;
  }
}

// Keeps a handler that the program has set in the meantime.
overflow_handler::~overflow_handler() {
  handler_state& all = handlers();
  const std::lock_guard guard(all.lock);
  if (--all.users != 0) return;
  for (int i = 0; i < 2; ++i) {
    struct sigaction current = {};
    if (all.installed[i] && sigaction(handled[i], nullptr, &current) == 0 &&
        (current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == report)
      std::signal(handled[i], SIG_DFL);
  }
}

watched_stack::watched_stack(const std::byte* begin, const std::byte* end)
    : previous_begin_(guards_begin), previous_end_(guards_end) {
  guards_begin = begin;
  guards_end = end;
  stack_t current = {};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
  signal_stack_.reset(new std::byte[signal_stack_bytes]);
  stack_t stack = {};
  stack.ss_sp = signal_stack_.get();
  stack.ss_size = signal_stack_bytes;
  if (sigaltstack(&stack, nullptr) != 0) signal_stack_.reset();
}

watched_stack::watched_stack() : watched_stack(nullptr, nullptr) {
  pthread_attr_t how;
  if (pthread_getattr_np(pthread_self(), &how) != 0) return;
  void* low = nullptr;
  std::size_t size = 0, guard = 0;
  if (pthread_attr_getstack(&how, &low, &size) == 0 && pthread_attr_getguardsize(&how, &guard) == 0) {
    // The guard lies below the stack; older versions of the C library count it as part of the
    // stack.
    guards_begin = static_cast<const std::byte*>(low) - guard;
    guards_end = static_cast<const std::byte*>(low) + guard;
  }
  pthread_attr_destroy(&how);
}

watched_stack::~watched_stack() {
  guards_begin = previous_begin_;
  guards_end = previous_end_;
  if (!signal_stack_) return;
  stack_t current = {};
  if (sigaltstack(nullptr, &current) != 0 || current.ss_sp != signal_stack_.get()) {
    static_cast<void>(signal_stack_.release());  // leaked: the thread still uses it, or may use it
    return;
  }
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace tutti::detail
