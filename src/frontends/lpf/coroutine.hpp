// SPDX-License-Identifier: Apache-2.0
//
// A function with a separate stack that may pause. Its caller continues while the function is
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
  void start(std::function<void()> function);
  /// Continues the function where it paused. No effect if it has returned.
  void resume();
  /// Called within the function: start() or resume() returns. pause() returns at the next resume().
  void pause();

 private:
  static void enter(unsigned high, unsigned low);
  void switch_to_function();

  // Address space; the kernel provides memory on first access. A guard below the stack faults.
  static constexpr std::size_t stack_bytes = std::size_t{8} << 20, guard_bytes = std::size_t{1} << 20;
  std::function<void()> function_;
  void* stack_ = nullptr;
  bool finished_ = true;
  ucontext_t function_context_{}, caller_context_{};
  // State for AddressSanitizer, which must know of each switch of stacks.
  void* fake_function_stack_ = nullptr;
  void* fake_caller_stack_ = nullptr;
  const void* caller_stack_bottom_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
};

}  // namespace tutti::lpf
