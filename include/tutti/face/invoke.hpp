// SPDX-License-Identifier: Apache-2.0
//
// What every collective of communicator does: judge the call, fill a frame, run it.
#pragma once

#include <new>

#include "tutti/face/frame.hpp"
#include "tutti/request.hpp"

namespace tutti::detail {

/// A frame that outlives the call's expression, with what the call needs besides. It stands in memory that
/// the communicator keeps for such.
template <class Frame>
class held_frame final : public held_call<typename Frame::result_type> {
 public:
  template <class... Args>
  static auto make(const core_handle& where, Args&&... args) {
    void* memory = place(*where);
    try {
      return owner<held_frame>(::new (memory) held_frame(where, static_cast<Args&&>(args)...));
    } catch (...) {
      replace(*where, memory);
      throw;
    }
  }
  typename Frame::result_type finish() override { return frame.finish(); }
  void dismiss() noexcept override {
    const core_handle where = std::move(where_);
    this->~held_frame();
    replace(*where, this);
  }

 private:
  template <class... Args>
  explicit held_frame(const core_handle& where, Args&&... args)
      : where_(where), frame(what_, static_cast<Args&&>(args)...) {}
  ~held_frame() = default;

  // Memory for more than the usual alignment is not kept.
  static constexpr bool is_kept() { return alignof(held_frame) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__; }
  static void* place(core& where) {
    if constexpr (is_kept())
      return take_memory(where, sizeof(held_frame));
    else
      return ::operator new (sizeof(held_frame), std::align_val_t{alignof(held_frame)});
  }
  static void replace(core& where, void* memory) noexcept {
    if constexpr (is_kept())
      give_memory(where, memory, sizeof(held_frame));
    else
      ::operator delete (memory, std::align_val_t{alignof(held_frame)});
  }

  core_handle where_;
  call what_;

 public:
  Frame frame;
};

// Owning arguments of const objects are never written: those would be out parameters, which the caller makes
// anew.
template <class A>
std::remove_cvref_t<A>& without_const(A& argument) noexcept {
  return const_cast<std::remove_cvref_t<A>&>(argument);
}

template <form F, class T, class Communicator, class... Args>
auto invoke(const Communicator& comm, Args&&... args) {
  constexpr verdict v = judged<F, T, std::remove_cvref_t<Args>...>();
  if constexpr (v.what != problem::none) {
    complaint<v.what, v.which>{};
    return mistaken{};
  } else {
    using element = element_of_call<T, std::remove_cvref_t<Args>...>;
    const call_site site = comm.site(F);
    if constexpr (F.how == mode::blocking) {
      call c;
      using plain = frame<F, element, std::remove_cvref_t<Args>&...>;
      plain f(c, without_const(args)...);
      // A communicator may have a way of its own to carry out its calls, as grid_communicator has.
      constexpr bool own_way = requires { comm.carry_out(c); };
      if constexpr (plain::may_be_like_last && !own_way)
        if (f.run_like_last(site)) return f.finish();
      f.set_up(site);
      if constexpr (own_way)
        comm.carry_out(c);
      else
        run_call(site.where, c);
      if constexpr (plain::may_be_like_last && !own_way) f.keep_lengths(site);
      return f.finish();
    } else {
      using held = held_frame<frame<F, element, std::remove_cvref_t<Args>...>>;
      using result = typename held::result_type;
      auto kept = held::make(comm.shared(), static_cast<Args&&>(args)...);
      const call& c = kept->frame.set_up(site);
      if constexpr (F.how == mode::nonblocking) {
        auto under_way = start_call(site.where, c);
        return nonblocking_result<result>(std::move(kept), std::move(under_way));
      } else {
        auto prepared = prepare_call(site.where, c);
        return plan<result>(std::move(kept), std::move(prepared));
      }
    }
  }
}

}  // namespace tutti::detail
