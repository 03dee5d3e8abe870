// SPDX-License-Identifier: Apache-2.0
//
// The arguments of calls of every form. A call uses them directly, or keeps them in a frame that
// outlives the expression of the call. A nonblocking call is passed to its request.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "tutti/detail/export.hpp"
#include "tutti/detail/find_call_site.hpp"
#include "tutti/request.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// A frame that outlives the expression of the call, with the further state of the call. Its memory
/// comes from a pool of the communicator.
template <class Frame>
class held_frame final : public held_call<typename Frame::result_type> {
 public:
  template <class... Args>
  static auto make(const communicator_handle& where, Args&&... args) {
    void* memory = allocate(*where);
    try {
      return owner<held_frame>(::new (memory) held_frame(where, static_cast<Args&&>(args)...));
    } catch (...) {
      deallocate(*where, memory);
      throw;
    }
  }
  typename Frame::result_type finish(const pending& done) override {
    if constexpr (Frame::is_message)
      return frame.finish(found(done));
    else
      return frame.finish();
  }
  bool dismiss() noexcept override {
    const communicator_handle where = std::move(where_);
    this->~held_frame();
    deallocate(*where, this);
    return true;
  }

 private:
  struct nothing {};
  template <class... Args>
  explicit held_frame(const communicator_handle& where, Args&&... args)
      : where_(where), frame(constructor_argument(), static_cast<Args&&>(args)...) {}
  ~held_frame() = default;

  auto& constructor_argument() noexcept {
    if constexpr (Frame::is_message)
      return *where_;
    else
      return what_;
  }

  // The pool does not serve more than the default alignment.
  static constexpr bool is_pooled() { return alignof(held_frame) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__; }
  static void* allocate(communicator_impl& where) {
    if constexpr (is_pooled())
      return acquire_memory(where, sizeof(held_frame));
    else
      return ::operator new (sizeof(held_frame), std::align_val_t{alignof(held_frame)});
  }
  static void deallocate(communicator_impl& where, void* memory) noexcept {
    if constexpr (is_pooled())
      release_memory(where, memory, sizeof(held_frame));
    else
      ::operator delete (memory, std::align_val_t{alignof(held_frame)});
  }

  communicator_handle where_;
  [[no_unique_address]] std::conditional_t<Frame::is_message, nothing, call> what_;

 public:
  Frame frame;
};

/// A call that is begun or prepared. With layouts the frame packs and unpacks.
template <bool Typed, class Frame>
pending_call begun(Frame& frame, pending_call made) {
  if constexpr (Typed)
    return frame.wrap(std::move(made));
  else
    return made;
}

// Owning arguments of const objects are never written: those would be out parameters, which the
// caller makes for each call.
template <class A>
std::remove_cvref_t<A>& without_const(A& argument) noexcept {
  return const_cast<std::remove_cvref_t<A>&>(argument);
}

/// An argument that is not a named parameter but converts to one, such as request(r) and status(s).
/// The name of a type cannot also be that of a function.
template <class A>
concept shorthand = requires(A&& a) {
  static_cast<A&&>(a).named_argument();
};

/// Returns the named parameter; returns any other argument unchanged.
template <class A>
constexpr decltype(auto) named(A&& a) {
  if constexpr (shorthand<A>)
    return static_cast<A&&>(a).named_argument();
  else
    return static_cast<A&&>(a);
}

/// The request among the arguments of a call.
template <class A>
void find_request(A&, request*&) noexcept {}
inline void find_request(argument<parameter::request, data_direction::in, no_resize, request&>& a,
                         request*& found) noexcept {
  found = &a.data;
}

/// Begins a call with `start`, and passes it to the request among the arguments, or returns it.
template <class Held, class Start, class... Args>
auto begin_call(owner<Held> storage, Start&& start, Args&... args) {
  using result = typename Held::result_type;
  if constexpr (((parameter_of<Args> == parameter::request) || ...)) {
    request* into = nullptr;
    (find_request(args, into), ...);
    *into = request();  // waits for the call before
    auto under_way = start();
    *into = request(nonblocking_result<void>(std::move(storage), std::move(under_way)));
  } else {
    auto under_way = start();
    return nonblocking_result<result>(std::move(storage), std::move(under_way));
  }
}

}  // namespace tutti::detail
TUTTI_API_END
