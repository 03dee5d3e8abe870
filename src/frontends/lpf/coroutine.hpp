// SPDX-License-Identifier: Apache-2.0
//
// A function that has a stack of its own, and may pause: what goes on outside of it happens in its middle. So
// tutti::run(), which ends when its program does, can last as long as a main() that it does not call.
#pragma once

#include <cstddef>
#include <functional>

#include <ucontext.h>

namespace tutti::lpf {

/// Used by one thread. Nothing may be thrown out of the function.
class coroutine {
 public:
  coroutine() = default;
  coroutine(const coroutine&) = delete;
  coroutine& operator=(const coroutine&) = delete;
  ~coroutine();

  /// Runs the function until it pauses or returns. Throws std::bad_alloc where there is no stack. Once.
  void start(std::function<void()> what);
  /// Lets it go on from where it paused; nothing where it has returned.
  void go_on();
  /// Within the function: start() or go_on() returns; returns with the next go_on().
  void pause();

 private:
  static void enter(unsigned high, unsigned low);
  void go_in();

  // Of address space; memory where it is touched. Below the stack is a guard, which faults.
  static constexpr std::size_t stack_bytes = std::size_t{8} << 20, guard_bytes = std::size_t{1} << 20;
  std::function<void()> what_;
  void* stack_ = nullptr;
  bool over_ = true;
  ucontext_t inside_{}, outside_{};
  // What AddressSanitizer wants to know of a change of stacks.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* bottom_outside_ = nullptr;
  std::size_t bytes_outside_ = 0;
};

}  // namespace tutti::lpf
