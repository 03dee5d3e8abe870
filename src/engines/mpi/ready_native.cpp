// SPDX-License-Identifier: Apache-2.0
//
// The most frequent native collectives, prepared for repeated calls. The MPI handles are known.
// Only one function, which loads its arguments, stands between the library and MPI. Calls of a
// communicator within a node use memory instead of MPI (memory_collectives.hpp).
#include <algorithm>
#include <new>
#include <optional>

#include "engines/mpi/long_wait.hpp"
#include "engines/mpi/mpi_context.hpp"
#include "engines/mpi/mpi_offers.hpp"

namespace tutti::mpi {

// Stored in ready_native::state.
struct mpi_context::ready_state {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  int rank;                       // of the caller
  std::size_t elements;           // items of `type` in one element of the call
  std::uintptr_t word_in_native;  // while MPI executes the call (long_wait.hpp); it has the name
  mpi_endpoint* ep;
  memory_collectives* in_memory;  // for calls of fewer than memory_end elements
  // Its direct functions serve fewer than direct_end elements.
  std::size_t direct_end, memory_end, element_bytes;
  combine_function combine;
  int allgatherv_count;  // elements that this rank sends

  static const ready_state& of(const ready_native& r) noexcept {
    return *std::launder(reinterpret_cast<const ready_state*>(r.state));
  }
  const char* name() const noexcept { return in_native::name_in(word_in_native); }
  /// Executes a call, or a step of it, which may throw.
  template <class Step>
  static bool guarded(const ready_native& r, const Step& step) {
    try {
      step();
    } catch (...) {
      r.fail();
      throw;
    }
    return true;
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_failure(const ready_native& r, int code) {
    guarded(r, [&] { throw_mpi_error(code, of(r).name(), of(r).ep->rank()); });
    __builtin_unreachable();
  }
  /// Makes the blocking call `f`, or starts the nonblocking one `begin` and polls it. Each passes
  /// its arguments to the function that it gets. `m.ep` is read twice, so that only one register is
  /// saved for afterwards.
  template <bool Nonblocking, class Blocking, class Begin, class PassArguments>
  static bool call_mpi(const ready_native& r, Blocking f, Begin begin, const PassArguments& pass) {
    const ready_state& m = of(r);
    if constexpr (!Nonblocking) {
      m.ep->native_now().store(m.word_in_native, std::memory_order_relaxed);
      // The compiler may not load the arguments before, which would take more registers.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      const int code = pass([&](auto... a) { return f(a...); });
      mpi_endpoint& ep = *m.ep;
      ep.native_now().store(0, std::memory_order_relaxed);
      if (code != MPI_SUCCESS) [[unlikely]]
        throw_failure(r, code);
      ep.look_for_rejections();
      return true;
    } else {
      MPI_Request request;
      const int code = pass([&](auto... a) { return begin(a..., &request); });
      if (code != MPI_SUCCESS) [[unlikely]]
        throw_failure(r, code);
      return guarded(r, [&] {
        m.ep->wait_for_native(request, m.name(),
                              {m.name(), "native", "the other members", -1, -1, shm::wait_site::unnumbered});
      });
    }
  }

  call memory_call(collective what, bool in_place, const void* input, void* output, std::size_t count) const {
    call c;
    c.what = what;
    c.in_place = in_place;
    c.root = root;
    c.type.size = element_bytes;
    c.count = count;
    c.input = input;
    c.output = output;
    c.op.combine = combine;
    return c;
  }
  static bool run_in_memory(const call& c, const ready_native& r) {
    const ready_state& m = of(r);
    return guarded(r, [&] {
      m.in_memory->run(c);
      m.ep->look_for_rejections();
    });
  }
  [[gnu::noinline]] static bool run_in_memory(collective what, bool in_place, const void* input, void* output,
                                              std::size_t count, const ready_native& r) {
    return run_in_memory(of(r).memory_call(what, in_place, input, output, count), r);
  }

  // InMemory: false if MPI makes all calls. Then nothing is tested in front of them.
  template <bool Nonblocking, bool InMemory, bool InPlace>
  static bool allreduce(const void* input, void* output, std::size_t count, const ready_native& r) {
    const ready_state& m = of(r);
    if constexpr (InMemory) {
      if (count < m.direct_end)
        return guarded(r, [&] {
          m.in_memory->allreduce(InPlace ? output : input, output, count, m.element_bytes, m.combine,
                                 nullptr);
          m.ep->look_for_rejections();
        });
      if (count < m.memory_end) return run_in_memory(collective::allreduce, InPlace, input, output, count, r);
    }
    return call_mpi<Nonblocking>(r, MPI_Allreduce, MPI_Iallreduce, [&](const auto& call) {
      return call(InPlace ? MPI_IN_PLACE : input, output, static_cast<int>(count), m.type, m.op, m.comm);
    });
  }
  template <bool Nonblocking, bool InMemory, bool AtRoot>
  static bool bcast(const void* input, void* output, std::size_t count, const ready_native& r) {
    const ready_state& m = of(r);
    if constexpr (InMemory) {
      if (count < m.direct_end)
        return guarded(r, [&] {
          m.in_memory->bcast(AtRoot ? const_cast<void*>(input) : output, count * m.element_bytes, m.root);
          m.ep->look_for_rejections();
        });
      if (count < m.memory_end) return run_in_memory(collective::bcast, false, input, output, count, r);
    }
    return call_mpi<Nonblocking>(r, MPI_Bcast, MPI_Ibcast, [&](const auto& call) {
      return call(AtRoot ? const_cast<void*>(input) : output, static_cast<int>(count * m.elements), m.type,
                  m.root, m.comm);
    });
  }
  template <bool Nonblocking, bool InMemory>
  static bool allgather(const void* input, void* output, std::size_t count, const ready_native& r) {
    const ready_state& m = of(r);
    if (InMemory && count < m.memory_end)
      return run_in_memory(collective::allgather, false, input, output, count, r);
    const int n = static_cast<int>(count * m.elements);
    return call_mpi<Nonblocking>(r, MPI_Allgather, MPI_Iallgather, [&](const auto& call) {
      return call(input, n, m.type, output, n, m.type, m.comm);
    });
  }
  template <bool Nonblocking, bool InMemory>
  static bool allgatherv(const void* input, void* output, const detail::counted_call& c,
                         const ready_native& r) {
    const ready_state& m = of(r);
    const int* counts = static_cast<const int*>(c.out_counts);
    if constexpr (InMemory) {
      const auto size = static_cast<std::size_t>(m.in_memory->size());
      call made = m.memory_call(collective::allgatherv, false, input, output,
                                static_cast<std::size_t>(counts[m.rank]));
      made.out_counts = {counts, size};
      made.out_displs = {static_cast<const int*>(c.out_displs), size};
      return run_in_memory(made, r);
    } else {
      return call_mpi<Nonblocking>(r, MPI_Allgatherv, MPI_Iallgatherv, [&](const auto& call) {
        return call(input, m.allgatherv_count, m.type, output, counts, static_cast<const int*>(c.out_displs),
                    m.type, m.comm);
      });
    }
  }
  template <bool Nonblocking, bool InMemory>
  static bool alltoallv(const void* input, void* output, const detail::counted_call& c,
                        const ready_native& r) {
    const ready_state& m = of(r);
    const auto ints = [](const void* p) { return static_cast<const int*>(p); };
    if constexpr (InMemory) {
      const auto size = static_cast<std::size_t>(m.in_memory->size());
      call made = m.memory_call(collective::alltoallv, false, input, output, 0);
      made.in_counts = {ints(c.in_counts), size};
      made.in_displs = {ints(c.in_displs), size};
      made.out_counts = {ints(c.out_counts), size};
      made.out_displs = {ints(c.out_displs), size};
      return run_in_memory(made, r);
    } else {
      return call_mpi<Nonblocking>(r, MPI_Alltoallv, MPI_Ialltoallv, [&](const auto& call) {
        return call(input, ints(c.in_counts), ints(c.in_displs), m.type, output, ints(c.out_counts),
                    ints(c.out_displs), m.type, m.comm);
      });
    }
  }
  // Of kinds whose calls of MPI are not prepared. `count` is less than memory_end.
  template <collective What>
  static bool run_only_in_memory(const void* input, void* output, std::size_t count, const ready_native& r) {
    return run_in_memory(What, false, input, output, count, r);
  }
  static decltype(ready_native::run) only_in_memory(collective what) noexcept {
    switch (what) {
      case collective::reduce:
        return run_only_in_memory<collective::reduce>;
      case collective::gather:
        return run_only_in_memory<collective::gather>;
      case collective::scatter:
        return run_only_in_memory<collective::scatter>;
      case collective::alltoall:
        return run_only_in_memory<collective::alltoall>;
      case collective::reduce_scatter_block:
        return run_only_in_memory<collective::reduce_scatter_block>;
      case collective::scan:
        return run_only_in_memory<collective::scan>;
      case collective::exscan:
        return run_only_in_memory<collective::exscan>;
      default:
        return nullptr;
    }
  }

  template <bool Nonblocking, bool InMemory>
  void choose(const call& c, ready_native& r) const {
    switch (c.what) {
      case collective::allreduce:
        r.run = c.in_place ? allreduce<Nonblocking, InMemory, true> : allreduce<Nonblocking, InMemory, false>;
        break;
      case collective::bcast:
        r.run = rank == c.root ? bcast<Nonblocking, InMemory, true> : bcast<Nonblocking, InMemory, false>;
        break;
      case collective::allgather:
        r.run = allgather<Nonblocking, InMemory>;
        break;
      case collective::allgatherv:
        r.run_counted = allgatherv<Nonblocking, InMemory>;
        break;
      case collective::alltoallv:
        r.run_counted = alltoallv<Nonblocking, InMemory>;
        break;
      default:
        if (memory_end == 0) break;
        r.run = only_in_memory(c.what);
        r.max_count = std::min(r.max_count, memory_end - 1);
    }
  }
};

// Longer calls are done in parts by native().
ready_native mpi_context::make_ready(const call& c) {
  static_assert(sizeof(ready_state) <= sizeof(ready_native::state));
  // The state of an operator of the program may differ from call to call.
  if (combines(c.what) && c.op.which == builtin_op::user) return {};
  if (ep_.checks() || (c.in_place && c.what != collective::allreduce)) return {};
  ready_native r;
  // The label of an exchange before a call is a literal.
  const char* const name_in_reports = c.on_behalf != 0 ? called(c) : name_of(c.what).data();
  const bool has_kind = c.type.kind != element_kind::opaque;
  auto* m = new (r.state) ready_state{comm_,
                                      ep_.types().of_kind(c.type.kind),
                                      ep_.types().of_op(c.op.which),
                                      c.root,
                                      rank_,
                                      has_kind ? 1 : c.type.size,
                                      in_native::word_of(name_in_reports),
                                      &ep_,
                                      nullptr,
                                      0,
                                      0,
                                      c.type.size,
                                      c.op.combine,
                                      0};
  constexpr std::size_t max_bytes = 0x7fffffff;
  r.max_count = max_bytes / c.type.size;
  memory_collectives* const in_memory = memory_collectives_for(c.what);
  const auto max_in_memory = in_memory != nullptr ? in_memory->max_bytes(c.what, c.type.size) : std::nullopt;
  if (max_in_memory) {
    m->in_memory = in_memory;
    m->memory_end = *max_in_memory / c.type.size + 1;
    if (c.what == collective::bcast || c.what == collective::allreduce)
      m->direct_end = std::min(m->memory_end, in_memory->max_direct_bytes(c.what) / c.type.size + 1);
  }
  if (!mpi_has(agreed_part(c, members().size()))) r.max_count = std::min(r.max_count, m->memory_end - 1);
  if (is_vector_form(c.what)) m->type = ep_.types().of_element(c.type);
  if (c.what == collective::allgatherv)
    m->allgatherv_count = static_cast<int>(c.out_counts[static_cast<std::size_t>(rank_)]);
  const auto choose = [&]<bool InMemory>() {
    return ep_.polls_natives() ? m->choose<true, InMemory>(c, r) : m->choose<false, InMemory>(c, r);
  };
  if (m->memory_end > 0)
    choose.template operator()<true>();
  else
    choose.template operator()<false>();
  return r;
}

}  // namespace tutti::mpi
