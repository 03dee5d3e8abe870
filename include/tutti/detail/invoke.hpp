// SPDX-License-Identifier: Apache-2.0
//
// The body of every collective of communicator: validate the call, fill a frame, run it.
#pragma once

#include "tutti/detail/access.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/held_frame.hpp"
#include "tutti/detail/layout_call.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

// Memory for a call that may never be built.
union unbuilt_call {
  unbuilt_call() noexcept {}
  call built;
};

// The type by which an argument is passed on: in a register if it refers to the caller's data.
template <class A>
using forwarded = std::conditional_t<A::owning, A&, A>;

/// A call that could not take the path of a repeated call. It is out of line, so that a repeated
/// call pays only for its own path.
template <collective_form F, class T, collective_form Named, class Communicator, class... Args>
[[gnu::noinline]] auto invoke_built(const Communicator& comm, forwarded<Args>... args) {
  collective_caller site = access::site(comm, F);
  site.name = Named;
  validate_entry(site);
  call c;
  frame_for<F, T, Args&...> f(c, static_cast<Args&>(args)...);
  f.set_up(site);
  if (f.is_rejected()) [[unlikely]] {
    f.announce_rejection(site, c);
    serve(site.where, c);
  } else {
    run_call(site.where, c);
  }
  f.cache_call(site);
  return f.finish();
}

// Whether the communicator executes its calls itself, as grid_communicator does.
template <class Communicator>
inline constexpr bool executes_itself = requires(const Communicator& comm, const call& c) {
  comm.execute(c);
};

// Args are the types of the arguments themselves.
template <collective_form F, class T, class Communicator, class... Args>
consteval bool has_fast_path() {
  if constexpr (F.how != mode::blocking || executes_itself<Communicator> || requests_layouts<Args...>)
    return false;
  else
    return frame_for<F, T, Args&...>::may_be_cached;
}

// A call that cannot be a repeated one.
template <collective_form F, class T, class Communicator, class... Args>
auto invoke_general(const collective_caller& site, const Communicator& comm, Args&&... args) {
  if constexpr (requests_layouts<std::remove_cvref_t<Args>...>) (report_layout<T>(without_const(args)), ...);
  constexpr bool with_layouts = has_layouts<std::remove_cvref_t<Args>...>;
  validate_entry(site);
  if constexpr (F.how == mode::blocking) {
    call c;
    frame_for<F, T, std::remove_cvref_t<Args>&...> f(c, without_const(args)...);
    f.set_up(site);
    if (f.is_rejected()) [[unlikely]] {
      f.announce_rejection(site, c);
      if constexpr (executes_itself<Communicator>)
        serve_by(site.where, [&] { comm.execute(c); });
      else
        serve(site.where, c);
    } else if constexpr (executes_itself<Communicator>) {
      comm.execute(c);
    } else {
      run_call(site.where, c);
    }
    if constexpr (with_layouts) f.unpack();
    return f.finish();
  } else {
    using held = held_frame<frame_for<F, T, std::remove_cvref_t<Args>...>>;
    auto storage = held::make(handle_of(comm), static_cast<Args&&>(args)...);
    const call& c = storage->frame.set_up(site);
    if (storage->frame.is_rejected()) [[unlikely]]
      storage->frame.announce_rejection(site, c);
    if constexpr (F.how == mode::nonblocking) {
      return begin_call(
          std::move(storage),
          [&frame = storage->frame, &site, &c] {
            return begun<with_layouts>(frame, start_call(site.where, c));
          },
          without_const(args)...);
    } else {
      auto prepared = begun<with_layouts>(storage->frame, prepare_call(site.where, c));
      return plan<typename held::result_type>(std::move(storage), std::move(prepared));
    }
  }
}

/// Executes a validated call on elements of type T. Named is the form that the user called. It is
/// inlined into the program, since the path of a repeated call is short.
template <collective_form F, class T, collective_form Named, class Communicator, class... Args>
[[gnu::always_inline]] inline auto invoke_validated(const collective_caller& site, const Communicator& comm,
                                                    Args&&... args) {
  if constexpr (has_fast_path<F, T, Communicator, std::remove_cvref_t<Args>...>()) {
    unbuilt_call never;
    frame_for<F, T, std::remove_cvref_t<Args>&...> f(never.built, without_const(args)...);
    if (f.run_cached(site)) [[likely]]
      return f.finish_cached();
    return invoke_built<F, T, Named, Communicator, std::remove_cvref_t<Args>...>(comm,
                                                                                 without_const(args)...);
  } else {
    return invoke_general<F, T>(site, comm, static_cast<Args&&>(args)...);
  }
}

/// A call with buffers that are objects to serialize; defined in detail/objects.hpp.
template <collective_form F, class T, class Communicator, class... Args>
auto invoke_with_objects(const Communicator& comm, Args&&... args);

template <collective_form F, class T, class Communicator, class... Args>
[[gnu::always_inline]] inline auto invoke(const Communicator& comm, Args&&... args) {
  if constexpr ((shorthand<Args> || ...)) {
    return invoke<F, T>(comm, named(static_cast<Args&&>(args))...);
  } else if constexpr ((holds_object<std::remove_cvref_t<Args>> || ...)) {
    return invoke_with_objects<F, T>(comm, static_cast<Args&&>(args)...);
  } else {
    constexpr argument_error v = error_of_call<F, T, std::remove_cvref_t<Args>...>();
    if constexpr (v.what != problem::none) {
      diagnostic<v.what, v.which>{};
      return rejected_call_result{};
    } else {
      using element = element_of_call<T, std::remove_cvref_t<Args>...>;
      note_call(impl_of(comm), args...);
      return invoke_validated<F, element, F>(access::site(comm, F), comm, static_cast<Args&&>(args)...);
    }
  }
}

/// Without arguments only the call itself knows its source location.
template <collective_form F, class T, class Communicator>
[[gnu::always_inline]] inline auto invoke_alone(const Communicator& comm, const std::source_location& at) {
  set_call_site(impl_of(comm), at);
  return invoke<F, T>(comm);
}

}  // namespace tutti::detail
TUTTI_API_END
