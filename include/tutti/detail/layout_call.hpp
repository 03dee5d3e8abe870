// SPDX-License-Identifier: Apache-2.0
//
// A call with buffers that hold items of a layout. A layout corresponds to a datatype of MPI, and
// an item is one instance of it. A frame (frame.hpp) converts the arguments of one collective to a
// tutti::call, and makes its result. The call with layouts wraps a frame. It gives the frame packed
// elements in place of items, and numbers of elements in place of numbers of items. Thus frames do
// not know layouts, and a call without layouts costs only the test for them.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/frame.hpp"
#include "tutti/detail/staging.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// Whether any layout is given.
template <class... Args>
inline constexpr bool has_layouts = ((kind_of(parameter_of<Args>) == parameter_kind::type &&
                                      direction_of<Args> == data_direction::in) ||
                                     ...);

/// Writes the layout of a T where it is requested.
template <class T, parameter N, data_direction F, resize_policy P, class D>
void report_layout(argument<N, F, P, D>& a) {
  if constexpr (kind_of(N) == parameter_kind::type && F == data_direction::out) {
    // Front ends with other names of types define store_layout_of().
    if constexpr (requires { a.data.template store_layout_of<T>(); })
      a.data.template store_layout_of<T>();
    else
      a.data = type_of<T>();
  }
}
template <class... Args>
inline constexpr bool requests_layouts = ((kind_of(parameter_of<Args>) == parameter_kind::type &&
                                           direction_of<Args> == data_direction::out) ||
                                          ...);

/// The send buffer or the receive buffer of a call (staging.hpp), as a container of elements.
template <class T>
class staged_elements {
 public:
  using value_type = T;
  explicit staged_elements(staging::side& side) noexcept : side_(side) {}
  T* data() const noexcept { return static_cast<T*>(side_.data()); }
  std::size_t size() const noexcept { return side_.size(); }
  void resize(std::size_t n) { side_.resize(n); }

 private:
  staging::side& side_;
};

/// The arguments of such a call. `base` has the caller's arguments, and makes the result. An inner
/// frame gets packed elements in their place, and makes the call.
template <collective_form F, class T, class... Args>
class layout_arguments : public collective_frame<F, T, Args...> {
 protected:
  using base = collective_frame<F, T, Args...>;
  using enum parameter;
  template <parameter N>
  static constexpr bool given = base::template has_in<N>;

  static constexpr bool both = base::uses_send_recv_buf;
  static constexpr parameter in_type = both || given<send_recv_type> ? send_recv_type : send_type;
  static constexpr parameter out_type = given<send_recv_type> ? send_recv_type : recv_type;
  static constexpr bool send_has_layout = given<in_type>;
  static constexpr bool recv_has_layout = !both && given<out_type>;
  static constexpr bool received_has_layout = both ? send_has_layout : recv_has_layout;

  // Whether this parameter describes a receive buffer that is separate from the send buffer.
  static constexpr bool of_receiver(parameter n) {
    return !both && (n == recv_count || n == recv_counts || n == recv_displs);
  }
  static constexpr bool is_list(parameter n) { return kind_of(n) == parameter_kind::counts; }
  // Whether this parameter counts items of a layout.
  static constexpr bool counts_items(parameter n) {
    return (is_list(n) || kind_of(n) == parameter_kind::count) &&
           (of_receiver(n) ? recv_has_layout : send_has_layout);
  }
  staging::side& side_of(parameter n) noexcept { return of_receiver(n) ? stage_.out : stage_.in; }

  // Where the inner frame finds or stores numbers of elements.
  static constexpr std::size_t at(parameter n) {
    if (n == send_count || n == send_counts) return 0;
    if (n == recv_count || n == recv_counts) return 1;
    return n == send_displs ? 2 : 3;
  }

  template <class A>
  auto inner_argument() noexcept {
    constexpr parameter name = parameter_of<A>;
    constexpr data_direction way = direction_of<A>;
    using numbers = std::vector<std::size_t>;
    if constexpr ((name == send_buf || name == send_recv_buf) && send_has_layout) {
      constexpr resize_policy policy = both ? resize_policy::grow_only : resize_policy::no_resize;
      return argument<name, way, policy, staged_elements<T>&>{sent_};
    } else if constexpr (name == recv_buf && recv_has_layout) {
      return argument<name, way, resize_to_fit, staged_elements<T>&>{received_};
    } else if constexpr (name == recv_buf && base::template is_automatic<recv_buf>()) {
      return made_argument();
    } else if constexpr (name == recv_displs && way == data_direction::in && received_has_layout) {
      return argument<unnamed, way, no_resize, int>{0};  // handled where items are written
    } else if constexpr (counts_items(name) && is_list(name)) {
      constexpr resize_policy policy = way == data_direction::in ? resize_policy::no_resize : resize_to_fit;
      return argument<name, way, policy, numbers&>{list_[at(name)]};
    } else if constexpr (counts_items(name)) {
      return argument<name, way, no_resize, long long&>{number_[at(name)]};
    } else {
      auto& buffer = this->template data<name>();
      return argument<name, way, A::policy, std::remove_reference_t<decltype(buffer)>&>{buffer};
    }
  }
  auto made_argument() noexcept {
    auto& buffer = this->out();
    return argument<recv_buf, data_direction::out, resize_to_fit, std::remove_reference_t<decltype(buffer)>&>{
        buffer};
  }

  staging stage_;
  staged_elements<T> sent_{stage_.in}, received_{stage_.out};
  long long number_[4];
  std::vector<std::size_t> list_[4];

 public:
  using base::base;

  static constexpr collective_form inner_form = {F.what, mode::blocking, F.single, F.equal_blocks};
  auto make_inner(call& c) {
    if constexpr (base::new_part_first)
      return collective_frame<inner_form, T,
                              decltype(this->inner_argument<std::remove_reference_t<Args>>())...,
                              decltype(this->made_argument())>(
          c, inner_argument<std::remove_reference_t<Args>>()..., made_argument());
    else
      return collective_frame<inner_form, T,
                              decltype(this->inner_argument<std::remove_reference_t<Args>>())...>(
          c, inner_argument<std::remove_reference_t<Args>>()...);
  }
};

template <collective_form F, class T, class... Args>
class layout_frame : public layout_arguments<F, T, Args...> {
  using arguments = layout_arguments<F, T, Args...>;
  using enum parameter;
  using base = typename arguments::base;
  using arguments::both, arguments::send_has_layout, arguments::recv_has_layout,
      arguments::received_has_layout;
  using arguments::stage_, arguments::number_, arguments::list_, arguments::call_;
  template <parameter N>
  static constexpr bool given = base::template has_in<N>;

  // --- which ranks send, and which receive
  static constexpr bool from_root =
      F.what == collective::bcast || F.what == collective::scatter || F.what == collective::scatterv;
  static constexpr bool to_root = is_rooted(F.what) && !from_root;
  bool at_root(const collective_caller& s) noexcept {
    if constexpr (base::template has<root>)
      return s.rank == this->template data<root>();
    else
      return s.rank == s.default_root;
  }
  bool sends(const collective_caller& s) noexcept { return !from_root || at_root(s); }
  bool receives(const collective_caller& s) noexcept {
    return to_root ? at_root(s) : !(both && from_root && at_root(s));
  }

  // --- send data
  static constexpr parameter length_name() {
    if (F.what == collective::reduce_scatter) return recv_counts;
    if (F.what == collective::reduce_scatter_block && given<recv_count>) return recv_count;
    return given<send_recv_count> ? send_recv_count : send_count;
  }
  // The number of blocks of that length in the buffer.
  std::size_t blocks(const collective_caller& s) noexcept {
    constexpr bool to_all = F.what == collective::alltoall || F.what == collective::reduce_scatter_block ||
                            F.what == collective::scatter || F.what == collective::neighbor_alltoallv;
    const bool of_all =
        both && (F.what == collective::allgather || (F.what == collective::gather && at_root(s)));
    return static_cast<std::size_t>(to_all ? s.send_blocks : of_all ? s.recv_blocks : 1);
  }
  void count_equal_blocks(const collective_caller& s) {
    constexpr parameter name = length_name();
    long long n = 0;
    if constexpr (name == recv_counts) {
      stage_.scale(s, name, this->template view_of<name>(), this->side_of(name), list_[1]);
      for (const std::size_t one : list_[1]) n += static_cast<long long>(one);
    } else if constexpr (given<name>) {
      n = stage_.scaled(s, name, this->template data<name>(), this->side_of(name));
    }
    stage_.set_send_length(s, name, n, blocks(s));
  }
  template <parameter Counts, parameter Displs>
  void count_blocks(const collective_caller& s) {
    const counts_view displs = this->template view_of<Displs>();
    stage_.set_send_blocks(s, Counts, this->template view_of<Counts>(), Displs,
                           given<Displs> ? &displs : nullptr, list_[this->at(Counts)],
                           list_[this->at(Displs)]);
  }
  // Whether the blocks of the send buffer, or of the receive buffer, have counts of their own.
  static constexpr bool sends_counted_blocks = F.what == collective::scatterv ||
                                               F.what == collective::alltoallv ||
                                               (F.what == collective::neighbor_alltoallv && !F.equal_blocks);
  static constexpr bool receives_counted_blocks =
      has_rank_counts(F.what) && F.what != collective::scatterv && !F.equal_blocks;
  void count_sent(const collective_caller& s) {
    if constexpr (sends_counted_blocks && (!both || F.what == collective::scatterv))
      count_blocks<send_counts, send_displs>(s);
    else if constexpr (both && receives_counted_blocks) {
      if (F.what == collective::gatherv && !at_root(s))
        count_equal_blocks(s);
      else
        count_blocks<recv_counts, recv_displs>(s);
    } else {
      count_equal_blocks(s);
    }
  }

  // --- numbers
  template <class A>
  void import_numbers(const collective_caller& s) {
    constexpr parameter name = parameter_of<A>;
    if constexpr (arguments::counts_items(name)) {
      auto& list = list_[this->at(name)];
      auto& number = number_[this->at(name)];
      if constexpr (direction_of<A> == data_direction::out)
        list.assign(1, rejected_count), number = -1;  // stay if the frame stores none
      else if constexpr (!arguments::is_list(name))
        number = stage_.scaled(s, name, this->template data<name>(), this->side_of(name));
      else if constexpr (name == recv_counts && !both)
        if (receives(s)) stage_.scale(s, name, this->template view_of<name>(), this->side_of(name), list);
    }
  }
  template <class A>
  void export_numbers(const collective_caller& s) {
    constexpr parameter name = parameter_of<A>;
    if constexpr (arguments::counts_items(name) && direction_of<A> == data_direction::out) {
      auto& list = list_[this->at(name)];
      const long long number = number_[this->at(name)];
      const staging::side& side = this->side_of(name);
      if constexpr (!arguments::is_list(name)) {
        if (number < 0) return;
        this->template put_count<name>(s, stage_.items(s, name, static_cast<std::size_t>(number), side));
      } else {
        if (list.size() == 1 && list[0] == rejected_count) return;
        for (std::size_t& one : list) one = stage_.items(s, name, one, side);
        put_counts(s, name, counts_of(list), this->template reserve_counts<name>(s));
      }
    }
  }

  // --- received data
  void count_received(const collective_caller& s) {
    if (!receives(s)) return;
    staging::side& to = both ? stage_.in : stage_.out;
    if constexpr (receives_counted_blocks) {
      const counts_view displs = this->template view_of<recv_displs>();
      const counts_view where =
          stage_.set_receive_blocks(s, to, call_.out_counts, given<recv_displs> ? &displs : nullptr);
      if (!given<recv_displs> || to.is_packed()) return;
      call_.out_displs = where;
      if (both && F.what == collective::alltoallv) call_.in_displs = where;
    } else {
      // Each block, not only their sum, is a whole number of items.
      constexpr parameter type = both ? send_recv_type : arguments::out_type;
      const bool some = !F.equal_blocks || s.recv_blocks > 0;
      if (some) stage_.items(s, type, F.equal_blocks ? call_.out_counts[0] : call_.count, to);
      constexpr bool whole_side = !both || F.what == collective::gather || F.what == collective::allgather ||
                                  F.what == collective::alltoall;
      stage_.set_receive_length(s, to, whole_side ? to.size() : call_.count);
      if (F.what == collective::exscan && s.rank == 0 && !both) stage_.preserve_received();
    }
  }

  // Called from the handler of a layout error that only this rank knows. The call then serves the
  // other ranks, or this function throws the error.
  void reject(const collective_caller& s) {
    if (stage_.fault()) call_.input = nullptr;  // no valid send data
    call_.output = nullptr;
    stage_.disable_copies();
    this->substitute_.prepare(s, call_, rejected_count, base::counts_exchanged());
    stage_.pack();
  }

  // Called after the frame has built the call in elements.
  void build_items(const collective_caller& s) {
    stage_.rethrow_fault();
    this->require_exscan_identity(s);
    if constexpr (received_has_layout) count_received(s);
    if (call_.output == nullptr) this->leave_empty();
    (export_numbers<std::remove_reference_t<Args>>(s), ...);
    if (F.how != mode::persistent) stage_.pack();
  }

  void open(const collective_caller& s) {
    if constexpr (send_has_layout) {
      using item = std::remove_pointer_t<decltype(data_of(this->template data<base::in_name>()))>;
      stage_.open(stage_.in, base::in_name, arguments::in_type, this->template data<arguments::in_type>(),
                  this->in_data(), this->in_size() * sizeof(item));
    }
    if constexpr (recv_has_layout)
      stage_.open(stage_.out, recv_buf, arguments::out_type, this->template data<arguments::out_type>(),
                  data_of(this->out()), size_of(this->out()) * sizeof(*data_of(this->out())));
    constexpr bool of_both = both ? send_has_layout : send_has_layout && recv_has_layout;
    stage_.set_element_size(s, sizeof(T), alignof(T), combines(F.what) || !of_both);
  }

 public:
  using result_type = typename base::result_type;
  static constexpr bool may_be_cached = false;

  template <class... U>
  explicit layout_frame(call& c, U&&... args)
      : arguments(c, static_cast<U&&>(args)...), inner_(this->make_inner(c)) {}

  /// The same as for a frame.
  const call& set_up(const collective_caller& s) {
    open(s);
    if constexpr (send_has_layout)
      if (sends(s)) count_sent(s);
    (import_numbers<std::remove_reference_t<Args>>(s), ...);
    try {
      if (const std::exception_ptr& wrong = stage_.fault()) inner_.substitutes().set_fault(wrong);
      inner_.set_up(s);
    } catch (...) {
      stage_.rethrow_fault();  // the frame got arguments that it must reject
      throw;
    }
    if (stage_.elements_are_bytes()) call_.type = element_of<std::byte>();
    if (inner_.substitutes().in_use()) {
      stage_.disable_copies();
      return call_;
    }
    try {
      build_items(s);
    } catch (...) {
      reject(s);
    }
    return call_;
  }
  pending_call wrap(pending_call made) { return stage_.wrap(std::move(made), F.how == mode::nonblocking); }
  void unpack() noexcept { stage_.unpack(); }
  bool is_rejected() const noexcept { return base::is_rejected() || inner_.is_rejected(); }
  void announce_rejection(const collective_caller& s, const call& c) {
    if (base::is_rejected())
      base::announce_rejection(s, c);
    else
      inner_.announce_rejection(s, c);
  }

  result_type finish() {
    this->substitute_.rethrow_fault();
    inner_.substitutes().rethrow_fault();
    if constexpr (F.what == collective::exscan) {
      inner_.finish();  // writes the values of rank 0, if there are any
      stage_.unpack();
    }
    return base::make_result(*this, typename base::parts{});
  }

 private:
  decltype(std::declval<arguments&>().make_inner(std::declval<call&>())) inner_;
};

/// The frame that executes a call with these arguments.
template <collective_form F, class T, class... Args>
using frame_for = std::conditional_t<has_layouts<std::remove_reference_t<Args>...>,
                                     layout_frame<F, T, Args...>, collective_frame<F, T, Args...>>;

}  // namespace tutti::detail
TUTTI_API_END
