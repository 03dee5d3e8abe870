// SPDX-License-Identifier: Apache-2.0
//
// One collective from its arguments to its result. The frame fills tutti::call, infers absent
// arguments, and resizes buffers; frame_base.hpp builds the result. In blocking calls the frame
// refers to the arguments and is on the stack. In nonblocking and persistent calls it owns the
// arguments and lives in the request. families.hpp and vector_families.hpp evaluate the
// arguments of each family of collectives.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "tutti/call.hpp"
#include "tutti/detail/call_key.hpp"
#include "tutti/detail/collective_rules.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/frame_base.hpp"
#include "tutti/detail/substitute_buffers.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The frame_base of a collective.
template <collective_form F, class T, class... Args>
struct frame_of {
  static constexpr parameter out =
      F.what == collective::bcast ||
              ((parameter_of<std::remove_reference_t<Args>> == parameter::send_recv_buf) || ...)
          ? parameter::send_recv_buf
          : parameter::recv_buf;
  using new_container = std::conditional_t<F.what == collective::barrier, void,
                                           std::conditional_t<F.single, T, default_container<T>>>;
  using new_part =
      std::conditional_t<F.single && F.what == collective::reduce, std::optional<T>, new_container>;
  using base = frame_base<new_container, new_part, out, F.how == mode::persistent, Args...>;
};

template <collective_form F, class T, class... Args>
class collective_frame : public frame_of<F, T, Args...>::base {
 protected:  // for layout_call.hpp
  using enum parameter;
  using base = typename frame_of<F, T, Args...>::base;
  friend base;
  using base::explicit_out;
  using base::out;
  using base::out_policy;
  using typename base::nothing;
  using typename base::out_type;
  using typename base::parts;

  // Templates of a base that depends on Args must be declared again.
  template <parameter N>
  static constexpr bool has = base::template has<N>;
  template <parameter N>
  static constexpr bool has_out = base::template has_out<N>;
  template <parameter N>
  static constexpr bool has_in = base::template has_in<N>;
  template <parameter N>
  static constexpr bool owns = base::template owns<N>;
  template <parameter N>
  auto& data() noexcept {
    return base::template data<N>();
  }
  template <parameter N>
  void put_count(const collective_caller& s, std::size_t n) {
    base::template put_count<N>(s, n);
  }

  // --- the buffers
  static constexpr bool is_bcast = F.what == collective::bcast;
  static constexpr bool is_barrier = F.what == collective::barrier;
  static constexpr bool uses_send_recv_buf = has<send_recv_buf>;
  static constexpr bool in_place = uses_send_recv_buf && !is_bcast;
  static constexpr parameter in_name = in_place || is_bcast ? send_recv_buf : send_buf;
  static constexpr parameter out_name = frame_of<F, T, Args...>::out;

  static constexpr bool reads = uses_send_recv_buf || has<send_buf>;
  std::size_t in_size() {
    if constexpr (uses_send_recv_buf)
      return size_of(require_packed_buffer(out()));
    else if constexpr (has<send_buf>)
      return size_of(require_packed_buffer(data<send_buf>()));
    else
      return 0;
  }
  // Throws if an object could not be serialized: here, so that the other ranks learn of it.
  template <class C>
  static C& require_packed_buffer(C& c) {
    if constexpr (requires { c.require_packed(); }) c.require_packed();
    return c;
  }
  const void* in_data() noexcept {
    if constexpr (uses_send_recv_buf)
      return data_of(out());
    else if constexpr (has<send_buf>)
      return data_of(data<send_buf>());
    else
      return nullptr;
  }

  void reserve_output(const collective_caller& s, std::size_t n) {
    call_.output = this->reserve(s, n, sizeof(T));
  }
  // In place both addresses are that of the buffer, because algorithms may read either.
  void use_in_place(const collective_caller& s, std::size_t n) {
    reserve_output(s, n);
    call_.in_place = true;
    call_.input = call_.output;
  }

  // --- counts
  template <parameter N>
  std::size_t count_given(const collective_caller& s) {
    return validated_count(s, N, data<N>());
  }
  // Determines the length of this rank's send data; returns false if the buffer determines it.
  bool length_given(const collective_caller& s, std::size_t& n) {
    if constexpr (has_in<send_recv_count>)
      n = count_given<send_recv_count>(s);
    else if constexpr (has_in<send_count>)
      n = count_given<send_count>(s);
    return has_in<send_recv_count> || has_in<send_count>;
  }
  static constexpr parameter length_name = has_in<send_recv_count> ? send_recv_count : send_count;

  template <parameter N>
  auto* reserve_counts(const collective_caller& s) {
    auto& container = data<N>();
    const auto p = static_cast<std::size_t>(s.blocks(N));
    if (!fit<base::template policy_of<N>()>(container, p)) reject_size(s, N, size_of(container), p);
    return data_of(container);
  }
  template <parameter Counts, parameter Displs>
  void put_counts_and_displs(const collective_caller& s, const counts_view& counts) {
    if constexpr (has_out<Counts>) put_counts(s, Counts, counts, reserve_counts<Counts>(s));
    if constexpr (has_out<Displs>) put_displs(s, Displs, counts, reserve_counts<Displs>(s));
  }
  template <parameter N>
  counts_view view_of() noexcept {
    if constexpr (has_in<N>)
      return counts_of(data<N>());
    else
      return {};
  }

  void require_single(const collective_caller& s, std::size_t n, std::size_t required) {
    if (F.single && n != required) reject_size(s, in_name, n, required);
  }
  // Rank 0 of an exscan needs a value that no rank sends.
  void require_exscan_identity(const collective_caller& s) {
    if constexpr (F.what == collective::exscan && !has<values_on_rank_0> && !explicit_out) {
      using function = typename std::remove_cvref_t<decltype(data<op>())>::function_type;
      if constexpr (!has_identity<T, function>)  // on all ranks, so that no rank waits
        reject_call(s, values_on_rank_0, "is missing: the operator has no known result for rank 0",
                    "pass values_on_rank_0(...) on all ranks, or a recv_buf whose values stay there");
    }
  }
  void require_buffer(const collective_caller& s) {
    if (!reads) reject_call(s, in_name, "is missing at the root", "pass it at the root");
  }

  // --- the families, and their shared functions (families.hpp, vector_families.hpp)
  void bcast(const collective_caller& s);
  void reduction(const collective_caller& s);
  void reduce_scatter(const collective_caller& s);
  void regular(const collective_caller& s);
  void scatter(const collective_caller& s);
  void gatherv(const collective_caller& s);
  void scatterv(const collective_caller& s);
  counts_view even_counts(int n, std::size_t length);
  void even_alltoall(const collective_caller& s);
  void alltoallw(const collective_caller& s);
  void alltoallv(const collective_caller& s);
  template <class Validate, class Report>
  void validate_or_notify(const collective_caller&, Validate&& validate, Report&& report);
  template <class Validate>
  void gather_counts_at_root(const collective_caller& s, counts_view& list, std::size_t* all,
                             Validate&& validate);
  void validate_received(const collective_caller& s, std::size_t n, bool receives);
  void put_lengths(const collective_caller& s, std::size_t n);
  void leave_empty();
  void receive_scattered(const collective_caller& s, std::size_t n);
  void set_send_counts(const collective_caller& s, const counts_view& counts);
  void set_receive_blocks(const collective_caller& s, const counts_view& counts);

  // --- the path of a cached call (cached_call_frame.hpp)
  static constexpr bool has_no_extra_outputs();
  static constexpr bool operator_is_stateless();
  static constexpr bool has_one_count();
  static constexpr bool has_all_counts();
  template <parameter N>
  static constexpr std::size_t count_type_size();
  static constexpr std::size_t max_count_type_size();
  static constexpr bool counts_have_one_type();
  std::uint64_t call_key_of(const collective_caller& s);
  bool has_required_size(std::size_t n);
  bool run_with_one_count(const collective_caller& s);
  template <parameter Counts, parameter Displs>
  bool find_count_arrays(int blocks, const void*& counts, const void*& displs);
  bool build_counted_call(const collective_caller& s, const void*& input, void*& output, counted_call& c);

  void build_call(const collective_caller& s) {
    rank_ = s.rank;
    call_.what = F.what;
    if constexpr (F.equal_blocks)
      call_.label = F.what == collective::neighbor_allgatherv ? "neighbor_allgather" : "neighbor_alltoall";
    if constexpr (is_object_buffer<out_type>)  // gather of objects runs as gatherv
      call_.label = name_of(static_cast<collective>(s.name.what)).data();
    if constexpr (has<algorithm>) call_.algorithm = data<algorithm>();
    if constexpr (has<composition>) call_.composition = data<composition>();
    if constexpr (!is_barrier) {
      call_.type = element_of<T>();
      if constexpr (has<root>) {
        call_.root = data<root>();
        if (call_.root < 0 || call_.root >= s.size) reject_root(s, call_.root);
      } else if constexpr (is_rooted(F.what)) {
        call_.root = s.default_root;
      }
      if constexpr (has<op>) call_.op = operation_for<T>(data<op>());
      if constexpr (is_bcast)
        bcast(s);
      else if constexpr (F.what == collective::reduce_scatter)
        reduce_scatter(s);
      else if constexpr (combines(F.what))
        reduction(s);
      else if constexpr (F.what == collective::scatter)
        scatter(s);
      else if constexpr (F.what == collective::scatterv)
        scatterv(s);
      else if constexpr (F.what == collective::neighbor_alltoallv && F.equal_blocks)
        even_alltoall(s);
      else if constexpr (F.what == collective::alltoallv || F.what == collective::neighbor_alltoallv)
        alltoallv(s);
      else if constexpr (F.what == collective::alltoallw)
        alltoallw(s);
      else if constexpr (has_rank_counts(F.what))
        gatherv(s);
      else
        regular(s);
    }
  }

  // --- rejected calls

  // The length of a block in the arguments, from any of them; else rejected_count.
  std::size_t stated_length() noexcept {
    long long n = -1;
    if constexpr (F.single || (is_bcast && argument_shape_of<out_type>() == argument_shape::single)) n = 1;
    if constexpr (has_in<recv_count>) n = data<recv_count>();
    constexpr bool scatters = F.what == collective::scatter;
    if constexpr (has_in<send_count> && !(scatters && has_in<recv_count>)) n = data<send_count>();
    if constexpr (has_in<send_recv_count> && !(scatters && has_in<recv_count>)) n = data<send_recv_count>();
    return n < 0 ? rejected_count : static_cast<std::size_t>(n);
  }
  // Whether the lists of counts come from an exchange.
  static constexpr bool counts_exchanged() {
    switch (F.what) {
      case collective::allgatherv:
      case collective::neighbor_allgatherv:
      case collective::alltoallv:
      case collective::neighbor_alltoallv:
        return !F.equal_blocks && !in_place && !has_in<recv_counts>;
      default:
        return false;
    }
  }

  // --- the result
  static constexpr bool by_reference = F.how == mode::persistent;
  template <class Part>
  typename Part::type extract() {
    constexpr bool buffer = Part::name == out_name;
    if constexpr (buffer && F.single && F.what == collective::reduce && !explicit_out) {
      if (rank_ != call_.root) return std::nullopt;
      return out();
    } else {
      return base::template extract<Part>();
    }
  }

 public:
  using typename base::result_type;
  static constexpr bool is_message = false;

  /// Fills `c`, which must outlive the frame. It is a separate object, so that the rest of the
  /// frame can stay in registers.
  template <class... U>
  explicit collective_frame(call& c, U&&... arguments) : base(static_cast<U&&>(arguments)...), call_(c) {}
  collective_frame(const collective_frame&) = delete;
  collective_frame& operator=(const collective_frame&) = delete;
  /// Always inline: a call of it while an exception passes would need the address of the frame, and
  /// the whole frame of a repeated call would be in memory.
  [[gnu::always_inline]] ~collective_frame() {}

  /// Everything before the data moves. Throws usage_error if the call is wrong, or leaves the error
  /// to finish() if the other ranks wait for this one.
  const call& set_up(const collective_caller& s) {
    try {
      build_call(s);
    } catch (...) {
      reject(s);
    }
    return call_;
  }
  /// Called from a handler: the call then serves the other ranks, or it throws the error.
  void reject(const collective_caller& s) {
    call_.in_place = in_place;
    substitute_.prepare(s, call_, sends_nothing_ ? 0 : stated_length(), counts_exchanged() || lists_valid_);
  }
  substitute_buffers& substitutes() noexcept { return substitute_; }
  /// Whether the call was rejected and runs only for the other ranks, by serve(); finish() then
  /// throws.
  bool is_rejected() const noexcept { return substitute_.in_use(); }
  /// Called just before such a call is executed, with the call.
  void announce_rejection(const collective_caller& s, const call& c) {
    if (substitute_.in_use()) substitute_.announce(s, c);
  }

  /// Whether the call can repeat the last one. run_cached() then executes it in place of
  /// set_up() and run_call(), and finish_cached() follows. If it returned false, cache_call()
  /// follows them.
  static constexpr bool may_be_cached = has_one_count() || has_all_counts();
  bool run_cached(const collective_caller& s);
  void cache_call(const collective_caller& s);

  /// Everything after run_cached(), which rejects no arguments and changes no count. It does not
  /// name the substitute buffers: the compiler then keeps the rest of the frame in registers.
  result_type finish_cached() { return base::make_result(*this, parts{}); }

  /// Everything afterwards. It may be called again after each run of a persistent call.
  result_type finish() {
    substitute_.rethrow_fault();
    if constexpr (F.what == collective::exscan) {
      if (rank_ == 0) {
        T* to = static_cast<T*>(call_.output);
        if constexpr (has<values_on_rank_0>) {
          const auto* from = data_of(data<values_on_rank_0>());
          if (size_of(data<values_on_rank_0>()) == 1)
            std::fill_n(to, call_.count, static_cast<T>(*from));
          else
            for (std::size_t i = 0; i < call_.count; ++i) to[i] = static_cast<T>(from[i]);
        } else {
          using function = typename std::remove_cvref_t<decltype(data<op>())>::function_type;
          if constexpr (has_identity<T, function>) std::fill_n(to, call_.count, identity<T, function>());
        }
      }
    }
    if constexpr (in_place &&
                  (F.what == collective::reduce_scatter_block || F.what == collective::reduce_scatter) &&
                  out_policy() == resize_policy::resize_to_fit && !by_reference)
      out().resize(call_.count);
    if constexpr (is_object_buffer<out_type>) out().unpack(call_);
    return base::make_result(*this, parts{});
  }

 protected:
  [[no_unique_address]] std::conditional_t<has_rank_counts(F.what), count_array, nothing> inferred_;
  substitute_buffers substitute_;
  bool lists_valid_ = false;    // counts and displacements are valid; a later error is another
  bool sends_nothing_ = false;  // this rank sends no elements, and the root knows that
  std::size_t length_ = 0;      // of this rank's block in vector forms
  int rank_ = 0;
  call& call_;
};

}  // namespace tutti::detail
TUTTI_API_END

#include "tutti/detail/cached_call_frame.hpp"
#include "tutti/detail/families.hpp"
#include "tutti/detail/vector_families.hpp"
