// SPDX-License-Identifier: Apache-2.0
//
// A function with a stack of its own that may pause. Its caller continues while the function is
// paused. tutti::run() ends when its program ends. With a coroutine it can last as long as a main()
// that it does not call.
#pragma once

#include <cstddef>
#include <functional>

#include <ucontext.h>

namespace tutti::lpf {

/// For use by one thread. The function must not throw.
class coroutine {
 public:
  coroutine() = default;
  coroutine(const coroutine&) = delete;
  coroutine& operator=(const coroutine&) = delete;
  ~coroutine();

  /// Runs the function until it pauses or returns. Throws std::bad_alloc if there is no stack. Call
  /// it once.
  void start(std::function<void()> what);
  /// Continues the function where it paused. No effect if it has returned.
  void go_on();
  /// Called within the function: start() or go_on() returns. pause() returns at the next go_on().
  void pause();

 private:
  static void enter(unsigned high, unsigned low);
  void go_in();

  // Address space; the kernel provides memory on first access. A guard below the stack faults.
  static constexpr std::size_t stack_bytes = std::size_t{8} << 20, guard_bytes = std::size_t{1} << 20;
  std::function<void()> what_;
  void* stack_ = nullptr;
  bool over_ = true;
  ucontext_t inside_{}, outside_{};
  // What AddressSanitizer needs for a switch of stacks.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* bottom_outside_ = nullptr;
  std::size_t bytes_outside_ = 0;
};

}  // namespace tutti::lpf
