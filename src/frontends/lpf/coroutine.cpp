// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/coroutine.hpp"

#include <cstdint>
#include <new>

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tutti::lpf {

coroutine::~coroutine() {
  if (stack_ != nullptr) munmap(static_cast<std::byte*>(stack_) - guard_bytes, guard_bytes + stack_bytes);
}

void coroutine::start(std::function<void()> what) {
  void* memory =
      mmap(nullptr, guard_bytes + stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(memory) + guard_bytes;
  if (mprotect(stack_, stack_bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  what_ = std::move(what);
  over_ = false;
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_;
  inside_.uc_stack.ss_size = stack_bytes;
  inside_.uc_link = nullptr;
  // makecontext() passes ints only.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&coroutine::enter), 2,
              static_cast<unsigned>(self >> 16 >> 16), static_cast<unsigned>(self));
  go_in();
}

void coroutine::go_on() {
  if (!over_) go_in();
}

void coroutine::go_in() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_outside_, stack_, stack_bytes);
#endif
  swapcontext(&outside_, &inside_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_outside_, nullptr, nullptr);
#endif
}

void coroutine::pause() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(over_ ? nullptr : &fake_inside_, bottom_outside_, bytes_outside_);
#endif
  swapcontext(&inside_, &outside_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_inside_, &bottom_outside_, &bytes_outside_);
#endif
}

void coroutine::enter(unsigned high, unsigned low) {
  auto& self = *reinterpret_cast<coroutine*>((static_cast<std::uintptr_t>(high) << 16 << 16) | low);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self.bottom_outside_, &self.bytes_outside_);
#endif
  self.what_();
  self.over_ = true;
  self.pause();  // never returns
}

}  // namespace tutti::lpf
