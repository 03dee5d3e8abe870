// SPDX-License-Identifier: Apache-2.0
//
// One call from its arguments to its result: fills tutti::call, infers what was left out, makes room, and
// builds what is returned. The same for blocking calls (arguments are referred to, the frame stands on the
// stack) and for the others (arguments are moved in, the frame lives in the request).
//
// Longer than a file should be, and left whole: every family of collectives reads the same arguments through
// member templates, which a base class would make each use spell out as `this->template`.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "tutti/core/call.hpp"
#include "tutti/face/check.hpp"
#include "tutti/face/inference.hpp"
#include "tutti/result.hpp"

namespace tutti::detail {

template <class... Parts>
struct part_list {};
template <class... A, class... B>
part_list<A..., B...> operator+(part_list<A...>, part_list<B...>);

template <bool Reference, class... Parts>
struct result_of_parts {
  using type = result<Parts...>;
};
template <bool Reference>
struct result_of_parts<Reference> {
  using type = void;
};
template <bool Reference, class T>
struct result_of_parts<Reference, part<parameter::recv_buf, T>> {
  using type = T;
};
template <bool Reference, class T>
struct result_of_parts<Reference, part<parameter::send_recv_buf, T>> {
  using type = T;
};

template <form F, class T, class... Args>
class frame {
  using enum parameter;

  struct nothing {};

  // --- the arguments ---
  template <parameter N>
  static constexpr bool has = ((parameter_of<std::remove_reference_t<Args>> == N) || ...);
  template <parameter N>
  static constexpr bool has_out = ((parameter_of<std::remove_reference_t<Args>> == N &&
                                    direction_of<std::remove_reference_t<Args>> == flow::out) ||
                                   ...);
  template <parameter N>
  static constexpr bool has_in = has<N> && !has_out<N>;
  template <parameter N>
  auto& argument_of() noexcept {
    return get<N>(args_);
  }
  template <parameter N>
  auto& data() noexcept {
    return get<N>(args_).data;
  }
  template <parameter N>
  static constexpr bool is_automatic() {
    return ((std::is_same_v<std::remove_cvref_t<decltype(std::declval<Args&>().data)>, automatic> &&
             parameter_of<std::remove_reference_t<Args>> == N) ||
            ...);
  }
  template <parameter N>
  static constexpr resize_policy policy_of() {
    resize_policy found = resize_policy::no_resize;
    ((parameter_of<std::remove_reference_t<Args>> == N ? void(found = std::remove_reference_t<Args>::policy)
                                                       : void()),
     ...);
    return found;
  }
  template <parameter N>
  static constexpr bool owns =
      ((parameter_of<std::remove_reference_t<Args>> == N && std::remove_reference_t<Args>::owning) || ...);

  // --- the buffers ---
  static constexpr bool is_bcast = F.what == collective::bcast;
  static constexpr bool is_barrier = F.what == collective::barrier;
  static constexpr bool both_ways = has<send_recv_buf>;
  static constexpr bool in_place = both_ways && !is_bcast;
  static constexpr parameter in_name = in_place || is_bcast ? send_recv_buf : send_buf;
  static constexpr parameter out_name = both_ways || is_bcast ? send_recv_buf : recv_buf;
  static constexpr bool explicit_out = has<out_name> && !is_automatic<out_name>();
  static constexpr bool new_first = !is_barrier && !has<out_name>;  // not asked for: first in the result

  using made = std::conditional_t<explicit_out || is_barrier, nothing,
                                  std::conditional_t<F.single, T, default_container<T>>>;

  auto& out() noexcept {
    if constexpr (explicit_out)
      return data<out_name>();
    else
      return made_;
  }
  static auto type_of_out() {
    if constexpr (explicit_out)
      return std::type_identity<
          std::remove_reference_t<decltype(get<out_name>(std::declval<bag<Args...>&>()).data)>>{};
    else
      return std::type_identity<made>{};
  }
  using out_type = typename decltype(type_of_out())::type;
  static constexpr resize_policy out_policy() {
    if constexpr (nature_of<out_type>() != nature::contiguous)
      return resize_policy::no_resize;
    else
      return explicit_out ? policy_of<out_name>() : resize_policy::resize_to_fit;
  }

  static constexpr bool reads = both_ways || has<send_buf>;
  std::size_t in_size() noexcept {
    if constexpr (both_ways)
      return size_of(out());
    else if constexpr (has<send_buf>)
      return size_of(data<send_buf>());
    else
      return 0;
  }
  const void* in_data() noexcept {
    if constexpr (both_ways)
      return data_of(out());
    else if constexpr (has<send_buf>)
      return data_of(data<send_buf>());
    else
      return nullptr;
  }

  void make_room(const call_site& s, std::size_t n) {
    if (n > PTRDIFF_MAX / sizeof(T)) refuse_room(s, out_name, n);
    if (!fit<out_policy()>(out(), n)) refuse_size(s, out_name, size_of(out()), n);
    call_.output = data_of(out());
  }
  // In place both addresses are the buffer's, whichever of them an algorithm reads.
  void use_in_place(const call_site& s, std::size_t n) {
    make_room(s, n);
    call_.in_place = true;
    call_.input = call_.output;
  }

  // --- counts ---
  template <parameter N>
  std::size_t count_given(const call_site& s) {
    return checked_count(s, N, data<N>());
  }
  // What this rank says of the length of what it sends: false where it leaves it to the buffer.
  bool length_given(const call_site& s, std::size_t& n) {
    if constexpr (has_in<send_recv_count>)
      n = count_given<send_recv_count>(s);
    else if constexpr (has_in<send_count>)
      n = count_given<send_count>(s);
    return has_in<send_recv_count> || has_in<send_count>;
  }
  static constexpr parameter length_name = has_in<send_recv_count> ? send_recv_count : send_count;

  template <parameter N>
  void put_count(const call_site& s, std::size_t n) {
    if constexpr (has_out<N>) {
      using number = std::remove_cvref_t<decltype(data<N>())>;
      data<N>() = static_cast<number>(n);
      if (data<N>() < 0 || static_cast<std::size_t>(data<N>()) != n) refuse_narrow(s, N, n);
    } else {
      (void)s, (void)n;
    }
  }
  template <parameter N>
  auto* room_for_counts(const call_site& s) {
    auto& container = data<N>();
    const auto p = static_cast<std::size_t>(s.blocks(N));
    if (!fit<policy_of<N>()>(container, p)) refuse_size(s, N, size_of(container), p);
    return data_of(container);
  }
  template <parameter Counts, parameter Displs>
  void put_counts_and_displs(const call_site& s, const counts_view& counts) {
    if constexpr (has_out<Counts>) put_counts(s, Counts, counts, room_for_counts<Counts>(s));
    if constexpr (has_out<Displs>) put_displs(s, Displs, counts, room_for_counts<Displs>(s));
  }
  template <parameter N>
  counts_view view_of() noexcept {
    if constexpr (has_in<N>)
      return counts_of(data<N>());
    else
      return {};
  }

  void require_single(const call_site& s, std::size_t n, std::size_t wanted) {
    if (F.single && n != wanted) refuse_size(s, in_name, n, wanted);
  }
  void require_buffer(const call_site& s) {
    if (!reads) refuse_call(s, in_name, "is missing at the root", "the root must say what it sends");
  }

  // --- the families ---
  void bcast(const call_site& s) {
    constexpr bool fixed = F.single || nature_of<out_type>() == nature::single;
    const bool at_root = s.rank == call_.root;
    std::size_t n = 1;
    const auto at_the_root = [&] {
      require_buffer(s);
      if (fixed)
        n = 1;
      else if (!length_given(s, n))
        n = in_size();
      if constexpr (F.single)
        require_single(s, in_size(), 1);
      else
        check_within(s, length_name, n, in_size());
    };
    if constexpr (has_in<send_recv_count> || fixed) {
      if (at_root)
        at_the_root();
      else
        length_given(s, n);
    } else {
      if (at_root) agree([&] { at_the_root(); }, [&] { count_by_bcast(s, call_.root, refused_count); });
      n = count_by_bcast(s, call_.root, n);
    }
    if (s.beside(call_.root)) n = 0;
    if (at_root && both_ways)
      call_.output = const_cast<void*>(in_data());
    else
      make_room(s, n);
    call_.input = call_.output;
    call_.count = n;
    put_count<send_recv_count>(s, n);
  }

  void reduction(const call_site& s) {
    constexpr bool scatters = F.what == collective::reduce_scatter_block;
    const std::size_t blocks = scatters ? static_cast<std::size_t>(s.gives) : 1;
    std::size_t n = 0;
    if constexpr (scatters && has_in<recv_count>) {
      n = count_given<recv_count>(s);
      check_within(s, recv_count, n * blocks, in_size());
    } else if (length_given(s, n)) {
      check_within(s, length_name, n * blocks, in_size());
    } else {
      n = scatters ? divided(s, in_name, in_size()) : in_size();
    }
    require_single(s, n, 1);
    if constexpr (F.what == collective::exscan && !has<values_on_rank_0> && !explicit_out) {
      using function = typename std::remove_cvref_t<decltype(data<op>())>::function_type;
      if (!has_identity<T, function> && s.rank == 0)
        refuse_call(s, values_on_rank_0,
                    "is missing: nothing is known that the operator could give to rank 0",
                    "pass values_on_rank_0(...), or a recv_buf whose values stay there");
    }
    if constexpr (F.what == collective::exscan && has<values_on_rank_0>) {
      const std::size_t values = size_of(data<values_on_rank_0>());
      if (values != 1 && values < n) refuse_size(s, values_on_rank_0, values, n);
    }
    call_.count = n;
    if constexpr (in_place) {
      use_in_place(s, in_size());
    } else {
      call_.input = in_data();
      if (F.what != collective::reduce || s.rank == call_.root)
        make_room(s, n);
      else
        leave_empty();
    }
    // Rank 0 receives nothing, but is given what stands there instead.
    if (F.what == collective::exscan && s.rank == 0 && n != 0 && call_.output == nullptr)
      refuse_call(s, out_name, "is null, with a count of " + std::to_string(n),
                  "pass a buffer of that many elements");
    put_count<send_recv_count>(s, n);
    put_count<recv_count>(s, n);
  }

  void reduce_scatter(const call_site& s) {
    const counts_view counts = view_of<recv_counts>();
    const std::size_t all = extent_of(s, recv_counts, counts, recv_displs, {}, false);
    check_within(s, recv_counts, all, in_size());
    call_.count = counts[static_cast<std::size_t>(s.first_group == 0 ? s.rank : s.local_rank())];
    call_.in_counts = call_.out_counts = counts;
    if constexpr (in_place) {
      use_in_place(s, in_size());
    } else {
      call_.input = in_data();
      make_room(s, call_.count);
    }
  }

  // gather, allgather, alltoall: the length of a block is known to its sender.
  void regular(const call_site& s) {
    const bool receives = F.what != collective::gather || s.rank == call_.root;
    const auto p = static_cast<std::size_t>(s.takes);
    const bool many = F.what == collective::alltoall || (in_place && receives);
    std::size_t n = 0;
    if (!length_given(s, n))
      n = many ? divided(s, in_name, in_size()) : in_size();
    else if (!in_place)
      check_within(s, length_name, many ? n * p : n, in_size());
    check_received(s, n, receives);
    call_.count = n;
    if constexpr (in_place) {
      use_in_place(s, many ? n * p : n);
    } else {
      call_.input = in_data();
      if (receives)
        make_room(s, n * p);
      else
        leave_empty();
    }
    put_lengths(s, n);
  }

  void scatter(const call_site& s) {
    const bool at_root = s.rank == call_.root;
    const auto p = static_cast<std::size_t>(s.gives);
    std::size_t n = 1;
    const auto at_the_root = [&] {
      require_buffer(s);
      require_single(s, in_size(), p);
      if (!length_given(s, n))
        n = divided(s, in_name, in_size());
      else
        check_within(s, length_name, n * p, in_size());
      check_received(s, n, true);
    };
    if constexpr (has_in<recv_count> || has_in<send_recv_count> || F.single) {
      if (at_root)
        at_the_root();
      else if constexpr (has_in<recv_count>)
        n = count_given<recv_count>(s);
      else
        length_given(s, n);
    } else {
      if (at_root) agree([&] { at_the_root(); }, [&] { count_by_bcast(s, call_.root, refused_count); });
      n = count_by_bcast(s, call_.root, n);
    }
    if (s.beside(call_.root)) n = 0;
    call_.count = n;
    receive_scattered(s, n);
    put_lengths(s, n);
  }

  void gatherv(const call_site& s) {
    constexpr bool everywhere = F.what == collective::allgatherv || F.what == collective::neighbor_allgatherv;
    const bool receives = everywhere || s.rank == call_.root;
    const auto me = static_cast<std::size_t>(s.rank);
    counts_view counts = view_of<recv_counts>();
    const auto send_length = [&] {
      if (!length_given(s, length_))
        length_ = in_size();
      else
        check_within(s, length_name, length_, in_size());
    };
    if constexpr (F.even) {
      send_length();
      if (has_in<recv_count>) check_received(s, length_, true);
      counts = even_counts(s.takes, length_);
      put_lengths(s, length_);
    } else if constexpr (has_in<recv_counts>) {
      if constexpr (in_place)
        length_ = receives && me < counts.size() ? counts[me] : in_size();
      else
        send_length();
    } else {
      std::size_t* all = receives ? inferred_.make(static_cast<std::size_t>(s.takes)) : nullptr;
      const auto exchange = [&](std::size_t n) {
        if constexpr (everywhere)
          counts_by_allgather(s, n, all);
        else
          counts_by_gather(s, call_.root, n, all);
      };
      agree(send_length, [&] { exchange(refused_count); });
      exchange(length_);
      counts = inferred_.view();
    }
    call_.input = in_data();
    call_.count = length_;
    call_.in_counts = {&length_, 1};
    if (receives)
      receive_blocks(s, counts);
    else if constexpr (in_place)
      call_.in_place = true, call_.output = const_cast<void*>(call_.input);
    else
      leave_empty();
    if constexpr (!F.even) put_count<send_count>(s, length_);
  }

  void scatterv(const call_site& s) {
    const bool at_root = s.rank == call_.root;
    const auto at_the_root = [&] {
      require_buffer(s);
      if (!has_in<send_counts>)
        refuse_call(s, send_counts, "is missing at the root", "the root must say who gets what");
      send_blocks(s);
    };
    if constexpr (has_in<recv_count>) {
      if (at_root) at_the_root();
      length_ = count_given<recv_count>(s);
    } else {
      if (at_root) agree([&] { at_the_root(); }, [&] { count_by_scatter(s, call_.root, {}, true); });
      length_ = count_by_scatter(s, call_.root, call_.in_counts, false);
    }
    call_.count = length_;
    call_.out_counts = {&length_, 1};
    receive_scattered(s, length_);
    put_count<recv_count>(s, length_);
    if (at_root) put_counts_and_displs<send_counts, send_displs>(s, call_.in_counts);
  }

  counts_view even_counts(int n, std::size_t length) {
    std::size_t* all = inferred_.make(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) all[i] = length;
    return inferred_.view();
  }

  // neighbor_alltoall: all blocks of one length, which a rank that sends to nobody has to be told.
  void even_alltoall(const call_site& s) {
    std::size_t n = 0;
    if (!length_given(s, n)) {
      n = divided(s, in_name, in_size());
      if (s.gives == 0 && s.takes != 0) {
        if constexpr (has_in<recv_count>)
          n = count_given<recv_count>(s);
        else
          refuse_call(s, recv_count, "is missing on a rank that sends to nobody",
                      "say how much comes from each");
      }
    } else {
      check_within(s, length_name, n * static_cast<std::size_t>(s.gives), in_size());
    }
    check_received(s, n, true);
    const counts_view all = even_counts(s.gives > s.takes ? s.gives : s.takes, n);
    call_.in_counts = all.first(static_cast<std::size_t>(s.gives));
    call_.out_counts = all.first(static_cast<std::size_t>(s.takes));
    call_.input = in_data();
    make_room(s, n * static_cast<std::size_t>(s.takes));
    put_lengths(s, n);
  }

  // Blocks of any layout each: counts are of layouts, displacements are bytes, and so are sizes.
  void alltoallw(const call_site& s) {
    call_.type = element_of<std::byte>();
    if constexpr (!in_place) {
      const std::span<const layout> types = data<send_types>();
      call_.in_counts = view_of<send_counts>();
      call_.in_displs = view_of<send_displs>();
      call_.in_types = types.data();
      check_within(s, send_counts,
                   extent_of_types(s, send_counts, call_.in_counts, send_displs, call_.in_displs,
                                   has_in<send_displs>, send_types, types),
                   in_size() * sizeof(T));
      call_.input = in_data();
    }
    const std::span<const layout> types = data<recv_types>();
    call_.out_counts = view_of<recv_counts>();
    call_.out_displs = view_of<recv_displs>();
    call_.out_types = types.data();
    const std::size_t end = extent_of_types(s, recv_counts, call_.out_counts, recv_displs, call_.out_displs,
                                            has_in<recv_displs>, recv_types, types);
    const std::size_t elements = (end + sizeof(T) - 1) / sizeof(T);
    if constexpr (in_place) {
      check_within(s, recv_counts, elements, in_size());
      use_in_place(s, in_size());
    } else {
      make_room(s, elements);
    }
  }

  void alltoallv(const call_site& s) {
    if constexpr (in_place) {
      receive_blocks(s, view_of<recv_counts>());
      call_.in_counts = call_.out_counts;
      call_.in_displs = call_.out_displs;
    } else {
      counts_view counts = view_of<recv_counts>();
      if constexpr (has_in<recv_counts>) {
        send_blocks(s);
      } else {
        std::size_t* received = inferred_.make(static_cast<std::size_t>(s.takes));
        agree([&] { send_blocks(s); }, [&] { counts_by_alltoall(s, nullptr, received); });
        counts_by_alltoall(s, &call_.in_counts, received);
        counts = inferred_.view();
      }
      call_.input = in_data();
      receive_blocks(s, counts);
      put_counts_and_displs<send_counts, send_displs>(s, call_.in_counts);
    }
  }

  // --- what they share ---
  // A rank whose own check fails tells the others in the exchange that they wait in.
  template <class Check, class Tell>
  static void agree(Check&& check, Tell&& tell) {
    try {
      check();
    } catch (...) {
      tell();
      throw;
    }
  }
  void check_received(const call_site& s, std::size_t n, bool receives) {
    if constexpr (has_in<recv_count>) {
      if (receives && count_given<recv_count>(s) != n)
        refuse_call(s, recv_count,
                    "is " + std::to_string(data<recv_count>()) + ", but blocks of " + std::to_string(n) +
                        " elements are sent",
                    "leave it out, or give the length that is sent");
    } else {
      (void)s, (void)n, (void)receives;
    }
  }
  void put_lengths(const call_site& s, std::size_t n) {
    put_count<send_count>(s, n);
    put_count<recv_count>(s, n);
    put_count<send_recv_count>(s, n);
  }
  // Off the root nothing is received: what the result owns is empty, what the caller owns is not touched.
  void leave_empty() {
    if constexpr (explicit_out && owns<out_name> && out_policy() == resize_policy::resize_to_fit)
      out().resize(0);
  }
  void receive_scattered(const call_site& s, std::size_t n) {
    if (s.rank != call_.root) {
      if (s.beside(call_.root)) return leave_empty();
      make_room(s, n);
      if constexpr (in_place) call_.in_place = true, call_.input = call_.output;
      return;
    }
    call_.input = in_data();
    if constexpr (in_place)
      call_.in_place = true, call_.output = const_cast<void*>(call_.input);
    else if (s.first_group != 0)
      leave_empty();
    else
      make_room(s, n);
  }
  void send_blocks(const call_site& s) {
    call_.in_counts = view_of<send_counts>();
    call_.in_displs = view_of<send_displs>();
    const std::size_t end =
        extent_of(s, send_counts, call_.in_counts, send_displs, call_.in_displs, has_in<send_displs>);
    check_within(s, send_counts, end, in_size());
  }
  void receive_blocks(const call_site& s, const counts_view& counts) {
    call_.out_counts = counts;
    call_.out_displs = view_of<recv_displs>();
    const std::size_t end =
        extent_of(s, recv_counts, counts, recv_displs, call_.out_displs, has_in<recv_displs>);
    if constexpr (in_place)
      use_in_place(s, end);
    else
      make_room(s, end);
    put_counts_and_displs<recv_counts, recv_displs>(s, counts);
  }

  // --- the result ---
  static constexpr bool by_reference = F.how == mode::persistent;
  template <class C>
  using returned = std::conditional_t<by_reference && nature_of<C>() == nature::contiguous, const C&, C>;
  using made_part =
      std::conditional_t<F.single && F.what == collective::reduce, std::optional<made>, returned<made>>;

  template <class Argument>
  static constexpr auto part_of_argument() {
    if constexpr (!Argument::owning || Argument::direction == flow::in)
      return part_list<>{};
    else if constexpr (std::is_same_v<typename Argument::data_type, automatic>)
      return part_list<part<Argument::name, made_part>>{};
    else
      return part_list<part<Argument::name, returned<typename Argument::data_type>>>{};
  }
  static constexpr auto first_part() {
    if constexpr (new_first)
      return part_list<part<out_name, made_part>>{};
    else
      return part_list<>{};
  }
  using parts = decltype((first_part() + ... + part_of_argument<std::remove_reference_t<Args>>()));

  template <class List>
  struct result_from;
  template <class... Parts>
  struct result_from<part_list<Parts...>> : result_of_parts<by_reference, Parts...> {};

  template <class Part>
  typename Part::type take() {
    constexpr bool buffer = Part::name == recv_buf || Part::name == send_recv_buf;
    auto& source = [this]() -> auto& {
      if constexpr (buffer)
        return this->out();
      else
        return this->template data<Part::name>();
    }
    ();
    if constexpr (buffer && F.single && F.what == collective::reduce && !explicit_out) {
      if (rank_ != call_.root) return std::nullopt;
      return source;
    } else if constexpr (by_reference) {
      return source;
    } else {
      return std::move(source);
    }
  }
  template <class... Parts>
  auto taken(part_list<Parts...>) -> typename result_of_parts<by_reference, Parts...>::type {
    using type = typename result_of_parts<by_reference, Parts...>::type;
    if constexpr (std::is_void_v<type>)
      return;
    else if constexpr ((std::is_same_v<typename Parts::type, type> && ...) && sizeof...(Parts) == 1)
      return (take<Parts>(), ...);
    else
      return type(std::in_place, take<Parts>()...);
  }

 public:
  using result_type = typename result_from<parts>::type;

  /// Fills `c`. It stands outside, so that all of the frame but the call itself stays in registers.
  template <class... U>
  explicit frame(call& c, U&&... arguments) : args_{{static_cast<U&&>(arguments)}...}, call_(c) {}
  frame(const frame&) = delete;
  frame& operator=(const frame&) = delete;

  /// Everything before the data moves. Throws usage_error where the call can be seen to be wrong.
  const call& set_up(const call_site& s) {
    rank_ = s.rank;
    call_.what = F.what;
    if constexpr (F.even)
      call_.label = F.what == collective::neighbor_allgatherv ? "neighbor_allgather" : "neighbor_alltoall";
    if constexpr (has<algorithm>) call_.algorithm = data<algorithm>();
    if constexpr (has<composition>) call_.composition = data<composition>();
    if constexpr (!is_barrier) {
      call_.type = element_of<T>();
      if constexpr (has<root>) {
        call_.root = data<root>();
        if (call_.root < 0 || call_.root >= s.size)
          refuse_call(s, root, "there is no rank " + std::to_string(call_.root), "ranks are 0 to size - 1");
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
      else if constexpr (F.what == collective::neighbor_alltoallv && F.even)
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
    return call_;
  }

  /// Everything after. May be called again after each run of a persistent call.
  result_type finish() {
    if constexpr (F.what == collective::exscan) {
      if (rank_ == 0) {
        T* to = static_cast<T*>(call_.output);
        if constexpr (has<values_on_rank_0>) {
          const auto* from = data_of(data<values_on_rank_0>());
          const std::size_t step = size_of(data<values_on_rank_0>()) == 1 ? 0 : 1;
          for (std::size_t i = 0; i < call_.count; ++i) to[i] = static_cast<T>(from[i * step]);
        } else {
          using function = typename std::remove_cvref_t<decltype(data<op>())>::function_type;
          if constexpr (has_identity<T, function>)
            for (std::size_t i = 0; i < call_.count; ++i) to[i] = identity<T, function>();
        }
      }
    }
    if constexpr (in_place &&
                  (F.what == collective::reduce_scatter_block || F.what == collective::reduce_scatter) &&
                  out_policy() == resize_policy::resize_to_fit && !by_reference)
      out().resize(call_.count);
    return taken(parts{});
  }

 private:
  bag<Args...> args_;
  [[no_unique_address]] made made_{};
  [[no_unique_address]] std::conditional_t<has_rank_counts(F.what), count_array, nothing> inferred_;
  std::size_t length_ = 0;  // of this rank's block in vector forms
  int rank_ = 0;
  call& call_;
};

}  // namespace tutti::detail
