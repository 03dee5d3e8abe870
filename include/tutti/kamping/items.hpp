// SPDX-License-Identifier: Apache-2.0
//
// Reductions over items of an MPI datatype by an MPI operator. The operator is made for that
// datatype with its gaps, so it receives items in the layout of the datatype. Messages carry them
// packed.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/kamping/parameters.hpp"

namespace kamping::internal {

template <class A>
inline constexpr bool is_native_type = false;
template <tutti::detail::data_direction F, tutti::resize_policy P>
inline constexpr bool
    is_native_type<tutti::detail::argument<tutti::parameter::send_recv_type, F, P, native_layout>> = true;
template <class A>
inline constexpr bool is_native_op = false;
template <tutti::detail::data_direction F, tutti::resize_policy P, class Declared>
inline constexpr bool is_native_op<
    tutti::detail::argument<tutti::parameter::op, F, P, tutti::detail::callable<mpi_operator, Declared>>> =
    true;

/// A buffer whose container the call makes.
template <class A>
inline constexpr bool is_open_buffer = false;
template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P>
inline constexpr bool is_open_buffer<tutti::detail::argument<N, F, P, tutti::detail::automatic>> = true;
template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P,
          template <class...> class C>
inline constexpr bool is_open_buffer<tutti::detail::argument<N, F, P, open_container<C>>> = true;

template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P, class T>
inline constexpr bool is_open_buffer<tutti::detail::argument<N, F, P, default_container_of<T>>> = true;

/// Whether a reduction with these arguments combines items of an MPI datatype by an MPI operator.
template <class... Args>
inline constexpr bool combines_items = (is_native_type<std::remove_cvref_t<Args>> || ...) &&
                                       (is_native_op<std::remove_cvref_t<Args>> || ...);

/// Whether an item lies in one element of `size` bytes, but is not a whole number of elements.
inline bool is_part_of_element(const tutti::layout& item, std::size_t size) {
  return item.size() % size != 0 && item.extent() == size && item.lowest() >= 0 &&
         item.highest() <= static_cast<std::ptrdiff_t>(size);
}
/// Converts an argument of a reduction whose operator combines elements of type T. A datatype with
/// gaps that has the extent of T becomes T.
template <class T, class A>
decltype(auto) of_whole_elements(A&& argument) {
  using bare = std::remove_cvref_t<A>;
  if constexpr (is_native_type<bare> && tutti::detail::is_sendable<T>) {
    native_layout type = argument.data;
    if (is_part_of_element(type, sizeof(T))) static_cast<tutti::layout&>(type) = tutti::type_of<T>();
    return bare{std::move(type)};
  } else {
    return static_cast<A&&>(argument);
  }
}

/// Combines packed items; it is the state of an operation.
struct item_operator {
  MPI_Op op;
  const native_layout& item;

  static void combine(const void* left, const void* right, void* result, std::size_t n, void* state) {
    static_cast<const item_operator*>(state)->run(static_cast<const std::byte*>(left),
                                                  static_cast<const std::byte*>(right),
                                                  static_cast<std::byte*>(result), n);
  }

 private:
  void run(const std::byte* left, const std::byte* right, std::byte* result, std::size_t n) const {
    const std::size_t bytes = item.size();
    if (item.is_contiguous() && result != left && n <= 0x7fffffff) {
      if (result != right) std::memcpy(result, right, n * bytes);
      check_mpi(MPI_Reduce_local(left, result, static_cast<int>(n), item.native, op), "MPI_Reduce_local");
      return;
    }
    const std::ptrdiff_t lowest = std::min<std::ptrdiff_t>(item.lowest(), 0);
    const auto span = std::max<std::size_t>(static_cast<std::size_t>(item.highest() - lowest), item.extent());
    const std::size_t stride = (span + 15) / 16 * 16;
    std::vector<std::byte> both(2 * stride);
    std::byte* const a = both.data() - lowest;
    std::byte* const b = a + stride;
    for (std::size_t i = 0; i < n; ++i) {
      item.unpack(left + i * bytes, 1, a);
      item.unpack(right + i * bytes, 1, b);
      check_mpi(MPI_Reduce_local(a, b, 1, item.native, op), "MPI_Reduce_local");
      item.pack(b, 1, result + i * bytes);
    }
  }
};

/// A reduction of `count` items.
struct item_reduction {
  tutti::collective what;
  const native_layout& item;
  std::size_t count;
  int root;
  MPI_Op op;
  bool commutative;  // as the program declared it

  [[noreturn]] void reject(const char* parameter, const char* problem, int code) const {
    throw MpiErrorException(std::string(tutti::name_of(what)) + ": " + parameter + ": " + problem, code);
  }
  /// Bytes from the first item to the end of the last.
  std::size_t reach() const {
    if (count == 0) return 0;
    return (count - 1) * item.extent() +
           static_cast<std::size_t>(std::max<std::ptrdiff_t>(item.highest(), 0));
  }
  bool receives(const tutti::communicator& ranks) const {
    return what != tutti::collective::reduce || ranks.rank() == root;
  }
  /// Reduces from items to items; does not touch the gaps.
  void run(const tutti::communicator& ranks, const void* from, void* to) const {
    int commutes = 0;
    check_mpi(MPI_Op_commutative(op, &commutes), "MPI_Op_commutative");
    std::vector<std::byte> in(count * item.size() + 1), out(in.size());
    item.pack(from, count, in.data());
    item_operator combining{op, item};
    tutti::call c;
    c.what = what;
    c.root = root;
    c.type = {std::max<std::size_t>(item.size(), 1), tutti::element_kind::opaque, {}};
    c.count = item.size() == 0 ? 0 : count;
    c.input = in.data();
    c.output = out.data();
    c.op.combine = &item_operator::combine;
    c.op.state = &combining;
    c.op.commutative = commutative || commutes != 0;
    tutti::detail::run_call(tutti::detail::impl_of(ranks), c);
    const bool given = what != tutti::collective::exscan || ranks.rank() != 0;
    if (given && receives(ranks)) item.unpack(out.data(), count, to);
  }
};

/// Executes the reduction; Args satisfy combines_items. Blocking.
template <tutti::collective What, template <class...> class Container, class... Args>
auto reduce_items(const tutti::communicator& ranks, Args&... args) {
  using enum tutti::parameter;
  using tutti::detail::data_of, tutti::detail::get, tutti::detail::size_of;
  constexpr auto has = [](tutti::parameter name) {
    return ((tutti::detail::parameter_of<Args> == name) || ...);
  };
  constexpr bool in_place = has(send_recv_buf);
  static_assert(has(send_recv_count), "a reduction over items of an MPI_Datatype needs send_recv_count");
  static_assert(in_place != has(send_buf), "a reduction needs send_buf or send_recv_buf");
  static_assert(!has(values_on_rank_0), "an exscan over items of an MPI_Datatype takes no values_on_rank_0");
  constexpr tutti::parameter from = in_place ? send_recv_buf : send_buf;
  constexpr tutti::parameter to = in_place ? send_recv_buf : recv_buf;

  tutti::detail::argument_set<Args&...> given{{args}...};
  const auto& with = get<tutti::parameter::op>(given).data;
  using declared = typename std::remove_cvref_t<decltype(with)>::declared_type;
  item_reduction r{What,
                   get<send_recv_type>(given).data,
                   0,
                   ranks.default_root(),
                   with.function.native,
                   std::is_same_v<declared, tutti::ops::commutative_t>};
  const long long count = get<send_recv_count>(given).data;
  if (count < 0) r.reject("send_recv_count", "is negative", MPI_ERR_COUNT);
  r.count = static_cast<std::size_t>(count);
  if constexpr (has(tutti::parameter::root)) r.root = get<tutti::parameter::root>(given).data;

  auto& read = get<from>(given).data;
  using element = tutti::detail::element_type<decltype(read)>;
  const std::size_t elements = (r.reach() + sizeof(element) - 1) / sizeof(element);
  if (elements > size_of(read)) r.reject("send_recv_count", "so many items exceed the buffer", MPI_ERR_COUNT);
  const auto into_new = [&] {
    Container<element> made(r.receives(ranks) ? elements : 0);
    r.run(ranks, data_of(read), data_of(made));
    return made;
  };
  if constexpr (!has(to)) {
    return into_new();
  } else if constexpr (is_open_buffer<std::remove_cvref_t<decltype(get<to>(given))>>) {
    return into_new();
  } else {
    auto& written = get<to>(given);
    using bare = std::remove_cvref_t<decltype(written)>;
    const std::size_t needed =
        (r.reach() + sizeof(*data_of(written.data)) - 1) / sizeof(*data_of(written.data));
    if (r.receives(ranks) && !tutti::detail::fit<bare::policy>(written.data, needed))
      r.reject(in_place ? "send_recv_buf" : "recv_buf", "has no space for so many items", MPI_ERR_BUFFER);
    r.run(ranks, data_of(read), data_of(written.data));
    if constexpr (bare::owning) return std::move(written.data);
  }
}

}  // namespace kamping::internal
