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

void coroutine::start(std::function<void()> function) {
  void* memory =
      mmap(nullptr, guard_bytes + stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(memory) + guard_bytes;
  if (mprotect(stack_, stack_bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  function_ = std::move(function);
  finished_ = false;
  getcontext(&function_context_);
  function_context_.uc_stack.ss_sp = stack_;
  function_context_.uc_stack.ss_size = stack_bytes;
  function_context_.uc_link = nullptr;
  // makecontext() passes ints only.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&function_context_, reinterpret_cast<void (*)()>(&coroutine::enter), 2,
              static_cast<unsigned>(self >> 16 >> 16), static_cast<unsigned>(self));
  switch_to_function();
}

void coroutine::resume() {
  if (!finished_) switch_to_function();
}

void coroutine::switch_to_function() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_caller_stack_, stack_, stack_bytes);
#endif
  swapcontext(&caller_context_, &function_context_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_caller_stack_, nullptr, nullptr);
#endif
}

void coroutine::pause() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(finished_ ? nullptr : &fake_function_stack_, caller_stack_bottom_,
                                 caller_stack_bytes_);
#endif
  swapcontext(&function_context_, &caller_context_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_function_stack_, &caller_stack_bottom_, &caller_stack_bytes_);
#endif
}

void coroutine::enter(unsigned high, unsigned low) {
  auto& self = *reinterpret_cast<coroutine*>((static_cast<std::uintptr_t>(high) << 16 << 16) | low);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self.caller_stack_bottom_, &self.caller_stack_bytes_);
#endif
  self.function_();
  self.finished_ = true;
  self.pause();  // never returns
}

}  // namespace tutti::lpf
