// SPDX-License-Identifier: Apache-2.0
//
// What every collective of communicator does: judge the call, fill a frame, run it.
#pragma once

#include <memory>

#include "tutti/face/frame.hpp"
#include "tutti/request.hpp"

namespace tutti::detail {

/// A frame on the heap, with what the call needs besides.
template <class Frame>
class held_frame final : public held_call<typename Frame::result_type> {
 public:
  template <class... Args>
  explicit held_frame(std::shared_ptr<core> keep, Args&&... args)
      : keep_(std::move(keep)), frame(what_, static_cast<Args&&>(args)...) {}
  typename Frame::result_type finish() override { return frame.finish(); }

 private:
  std::shared_ptr<core> keep_;
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
      frame<F, element, std::remove_cvref_t<Args>&...> f(c, without_const(args)...);
      f.set_up(site);
      run_call(site.where, c);
      return f.finish();
    } else {
      using held = held_frame<frame<F, element, std::remove_cvref_t<Args>...>>;
      using result = typename held::result_type;
      auto kept = std::make_unique<held>(comm.shared(), static_cast<Args&&>(args)...);
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
