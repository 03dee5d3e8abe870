// SPDX-License-Identifier: Apache-2.0
//
// Native collectives over MPI use the memory of the node, with TUTTI_SHM=cells: all kinds, lengths,
// roots and operators, blocking, prepared and in steps, over communicators and groups. MPI's own
// collectives are counted: there must be none.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/agreed_signature.hpp"
#include "checked_call.hpp"
#include "mpi_program.hpp"
#include "tutti/element.hpp"

namespace {
int collectives_of_mpi = 0;
}

// Counts the calls of a collective of MPI, and makes them.
#define COUNTED(NAME, PARAMETERS, ...)   \
  extern "C" int MPI_##NAME PARAMETERS { \
    ++collectives_of_mpi;                \
    return PMPI_##NAME(__VA_ARGS__);     \
  }
using data = const void*;
using type = MPI_Datatype;
COUNTED(Barrier, (MPI_Comm c), c)
COUNTED(Bcast, (void* a, int n, type t, int root, MPI_Comm c), a, n, t, root, c)
COUNTED(Reduce, (data a, void* b, int n, type t, MPI_Op o, int root, MPI_Comm c), a, b, n, t, o, root, c)
COUNTED(Allreduce, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c), a, b, n, t, o, c)
COUNTED(Scan, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c), a, b, n, t, o, c)
COUNTED(Exscan, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c), a, b, n, t, o, c)
COUNTED(Reduce_scatter_block, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c), a, b, n, t, o, c)
COUNTED(Gather, (data a, int n, type t, void* b, int m, type u, int root, MPI_Comm c), a, n, t, b, m, u, root,
        c)
COUNTED(Scatter, (data a, int n, type t, void* b, int m, type u, int root, MPI_Comm c), a, n, t, b, m, u,
        root, c)
COUNTED(Allgather, (data a, int n, type t, void* b, int m, type u, MPI_Comm c), a, n, t, b, m, u, c)
COUNTED(Alltoall, (data a, int n, type t, void* b, int m, type u, MPI_Comm c), a, n, t, b, m, u, c)
COUNTED(Allgatherv, (data a, int n, type t, void* b, const int m[], const int d[], type u, MPI_Comm c), a, n,
        t, b, m, d, u, c)
COUNTED(Gatherv, (data a, int n, type t, void* b, const int m[], const int d[], type u, int root, MPI_Comm c),
        a, n, t, b, m, d, u, root, c)
COUNTED(Scatterv,
        (data a, const int m[], const int d[], type t, void* b, int n, type u, int root, MPI_Comm c), a, m, d,
        t, b, n, u, root, c)
COUNTED(Alltoallv,
        (data a, const int n[], const int e[], type t, void* b, const int m[], const int d[], type u,
         MPI_Comm c),
        a, n, e, t, b, m, d, u, c)
COUNTED(Ibarrier, (MPI_Comm c, MPI_Request* r), c, r)
COUNTED(Ibcast, (void* a, int n, type t, int root, MPI_Comm c, MPI_Request* r), a, n, t, root, c, r)
COUNTED(Ireduce, (data a, void* b, int n, type t, MPI_Op o, int root, MPI_Comm c, MPI_Request* r), a, b, n, t,
        o, root, c, r)
COUNTED(Iallreduce, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c, MPI_Request* r), a, b, n, t, o, c,
        r)
COUNTED(Iscan, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c, MPI_Request* r), a, b, n, t, o, c, r)
COUNTED(Iexscan, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c, MPI_Request* r), a, b, n, t, o, c, r)
COUNTED(Ireduce_scatter_block, (data a, void* b, int n, type t, MPI_Op o, MPI_Comm c, MPI_Request* r), a, b,
        n, t, o, c, r)
COUNTED(Igather, (data a, int n, type t, void* b, int m, type u, int root, MPI_Comm c, MPI_Request* r), a, n,
        t, b, m, u, root, c, r)
COUNTED(Iscatter, (data a, int n, type t, void* b, int m, type u, int root, MPI_Comm c, MPI_Request* r), a, n,
        t, b, m, u, root, c, r)
COUNTED(Iallgather, (data a, int n, type t, void* b, int m, type u, MPI_Comm c, MPI_Request* r), a, n, t, b,
        m, u, c, r)
COUNTED(Ialltoall, (data a, int n, type t, void* b, int m, type u, MPI_Comm c, MPI_Request* r), a, n, t, b, m,
        u, c, r)
COUNTED(Igatherv,
        (data a, int n, type t, void* b, const int m[], const int d[], type u, int root, MPI_Comm c,
         MPI_Request* r),
        a, n, t, b, m, d, u, root, c, r)
COUNTED(Iscatterv,
        (data a, const int m[], const int d[], type t, void* b, int n, type u, int root, MPI_Comm c,
         MPI_Request* r),
        a, m, d, t, b, n, u, root, c, r)
COUNTED(Ialltoallv,
        (data a, const int n[], const int e[], type t, void* b, const int m[], const int d[], type u,
         MPI_Comm c, MPI_Request* r),
        a, n, e, t, b, m, d, u, c, r)
COUNTED(Iallgatherv,
        (data a, int n, type t, void* b, const int m[], const int d[], type u, MPI_Comm c, MPI_Request* r), a,
        n, t, b, m, d, u, c, r)

namespace {

using namespace tests;
using namespace tutti::detail;

// The lengths are those of lines, slots, and many pieces.
void run_blocking(context& c) {
  const auto run = [&](const call& made) { c.native(made, here); };
  check_calls<word>(kinds_that_move, {0, 1, 6, 7, 63, 1000}, run);
  check_calls<word>(kinds_that_combine, {0, 1, 6, 7, 63, 1000}, run);
  check_calls<triple>(kinds_that_move, {5, 16, 4001, 70000}, run);
  check_calls<matrix>(kinds_that_combine, {2, 129, 12501}, run);
}

// Many calls at a time, which end in any order.
void run_overlapping(context& c) {
  constexpr collective kinds[] = {collective::barrier,    collective::reduce_scatter_block,
                                  collective::bcast,      collective::allreduce,
                                  collective::gather,     collective::scan,
                                  collective::scatter,    collective::reduce,
                                  collective::allgatherv, collective::alltoall,
                                  collective::exscan,     collective::allgather};
  std::vector<std::unique_ptr<checked_call<matrix>>> calls;
  std::vector<native_state> states(36);
  std::vector<bool> complete(states.size());
  for (unsigned i = 0; i < states.size(); ++i) {
    const std::size_t n = i % 5 == 0 ? 100 : i % 7 == 0 ? 3000 : i % 6;
    calls.push_back(std::make_unique<checked_call<matrix>>(
        kinds[i % 12], n, static_cast<int>(i) % here_is.size, i, i % 2 == 0));
    c.native_begin(calls.back()->made, states[i]);
  }
  for (std::size_t left = states.size(); left > 0;)
    for (std::size_t i = states.size(); i-- > 0;)
      if (!complete[i] && c.native_progress(states[i], false, here)) {
        complete[i] = true;
        calls[i]->compare();
        --left;
      }
}

void add(const void* left, const void* right, void* result, std::size_t n, void*) {
  for (std::size_t i = 0; i < n; ++i)
    static_cast<word*>(result)[i] = static_cast<const word*>(left)[i] + static_cast<const word*>(right)[i];
}

// One prepared call serves all lengths.
void run_prepared(context& c) {
  const auto p = static_cast<std::size_t>(here_is.size);
  for (const collective what : {collective::bcast, collective::allreduce, collective::allgather}) {
    call made;
    made.what = what;
    made.root = here_is.size - 1;
    made.type = element_of<word>();
    made.count = 1;
    made.op = {add, nullptr, builtin_op::sum, true, {}};
    const ready_native ready = c.make_ready(made);
    if (ready.run == nullptr) continue;  // checked mode
    for (const std::size_t n : {1, 6, 7, 1024, 1025, 30000}) {
      const std::size_t blocks = what == collective::allgather ? p : 1;
      std::vector<word> input(n, static_cast<word>(here_is.rank) + n), output(n * blocks),
          expected(n * blocks);
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = what == collective::bcast       ? n + p - 1
                      : what == collective::allreduce ? n * p + p * (p - 1) / 2
                                                      : n + i / n;
      ready.run(input.data(), output.data(), n, ready);
      const bool sends_only = what == collective::bcast && here_is.rank == made.root;
      require(sends_only || output == expected,
              "a prepared " + std::string(name_of(what)) + " of " + std::to_string(n) + " words is wrong");
    }
  }
}

// The prepared call of one element serves all lengths of its kind.
void run_prepared_moves(context& c) {
  unsigned salt = 0;
  for (const collective what : kinds_that_move)
    for (int root = 0; root < here_is.size; ++root) {
      const checked_call<word> sample(what, 1, root, 0, false);
      const ready_native ready = c.make_ready(sample.made);
      for (const std::size_t n : {1, 6, 7, 1024, 30000}) {
        const checked_call<word> one(what, n, root, 2 * salt++, false);
        if (ready.run != nullptr) {
          ready.run(one.made.input, one.made.output, n, ready);
        } else if (ready.run_counted != nullptr) {
          counted_call counted{};
          counted.in_counts = one.made.in_counts.data();
          counted.in_displs = one.made.in_displs.data();
          counted.out_counts = one.made.out_counts.data();
          counted.out_displs = one.made.out_displs.data();
          ready.run_counted(one.made.input, one.made.output, counted, ready);
        } else {
          c.native(one.made, here);
        }
        one.compare();
      }
    }
}

// Rank 0 expects one element more, or less, from rank 1. It alone gets an error, nobody waits, and
// the next call works. Blocks are in lines, in slots and in messages.
void run_wrong_lengths(context& c) {
  const auto p = static_cast<std::size_t>(here_is.size);
  if (p < 2) return;
  for (const collective what : {collective::gatherv, collective::alltoallv})
    for (const std::size_t n : {1, 3000, 200'000})
      for (const int more : {1, -1}) {
        const std::vector<word> input(n * p, static_cast<word>(here_is.rank));
        std::vector<word> output((n + 1) * p);
        std::vector<std::size_t> sent(p, n), expected(p, n);
        if (here_is.rank == 0) expected[1] = more > 0 ? n + 1 : n - 1;
        call made;
        made.what = what;
        made.type.size = sizeof(word);
        made.count = what == collective::gatherv ? n : 0;
        made.input = input.data();
        made.output = output.data();
        made.in_counts = {sent.data(), p};
        made.out_counts = {expected.data(), p};
        bool is_shorter = false, is_longer = false;
        try {
          c.native(made, here);
        } catch (const truncation_error&) {
          is_longer = true;
        } catch (const mismatch_error&) {
          is_shorter = true;
        }
        const bool is_first = here_is.rank == 0;
        require(is_shorter == (is_first && more > 0) && is_longer == (is_first && more < 0),
                "a wrong length has another error");
        checked_call<word> next(collective::alltoallv, 100, 0, 1, false);
        c.native(next.made, here);
        next.overwrite();
        next.compare();
      }
}

agreed_signature signature_of(collective what) {
  agreed_signature s;
  s.what = what;
  s.ranks = here_is.size;
  return s;
}

// Makes a call with an operator of the program. MPI knows no such operator.
void reduce_in(context& c, std::size_t n, bool in_place) {
  const checked_call<matrix> one(collective::allreduce, n, 0, static_cast<unsigned>(n), in_place);
  require(c.offers(agreed_part(one.made, here_is.size)) == native_offer::any, "there is no memory");
  c.native(one.made, here);
  one.compare();
}

// The operands have the alignment of their type, wherever they lie.
struct alignas(32) wide {
  double values[4];
};
void add_wide(const void* left, const void* right, void* result, std::size_t n, void*) {
  for (const void* p : {left, right, static_cast<const void*>(result)})
    require(reinterpret_cast<std::uintptr_t>(p) % alignof(wide) == 0, "an operand is not aligned");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      static_cast<wide*>(result)[i].values[k] =
          static_cast<const wide*>(left)[i].values[k] + static_cast<const wide*>(right)[i].values[k];
}
void run_aligned(context& c) {
  for (const collective what : {collective::allreduce, collective::scan, collective::reduce_scatter_block})
    for (const std::size_t n : {1, 2, 33, 5000}) {
      const auto p = static_cast<std::size_t>(here_is.size);
      std::vector<wide> input(what == collective::reduce_scatter_block ? n * p : n, wide{{1, 2, 3, 4}}),
          output(n);
      call made;
      made.what = what;
      made.type.size = sizeof(wide);
      made.count = n;
      made.op.combine = add_wide;
      made.input = input.data();
      made.output = output.data();
      c.native(made, here);
      const int terms = what == collective::scan ? here_is.rank + 1 : here_is.size;
      for (const wide& one : output)
        require(one.values[3] == 4.0 * terms, "a sum of aligned elements is wrong");
    }
}

// An operator of the program throws on all ranks. A call of one round ends in order, and the next
// ones work. After a longer one the communicator reports that it cannot go on.
void throw_in_operator(const void*, const void*, void*, std::size_t, void*) {
  throw std::domain_error("no such number");
}
void run_throwing(context& c) {
  call made;
  made.what = collective::allreduce;
  made.type.size = sizeof(word);
  made.op.combine = throw_in_operator;
  for (const std::size_t n : {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 200, 200, 200, 200, 200, 100'000}) {
    std::vector<word> input(n), output(n);
    made.count = n;
    made.input = input.data();
    made.output = output.data();
    bool has_thrown = false;
    try {
      c.native(made, here);
    } catch (const std::domain_error&) {
      has_thrown = true;
    }
    require(has_thrown, "the exception of an operator is lost");
    if (n <= 200) reduce_in(c, n % 5, false);
  }
  for (const collective what : {collective::barrier, collective::bcast, collective::allgather}) {
    checked_call<word> next(what, 1, 0, 0, false);
    bool has_thrown = false;
    try {
      c.native(next.made, here);
    } catch (const engine_error& e) {
      has_thrown = std::string(e.what()).find("ended with an exception") != std::string::npos;
    }
    require(has_thrown, "a call after a broken one does not report it");
  }
}

// The first groups have slots, later ones only lines. None of them sends a message.
void run_groups(tutti::mpi::mpi_endpoint& ep) {
  std::vector<std::unique_ptr<context>> groups;
  for (word n = 1; n <= 300; ++n) {
    groups.push_back(ep.open_locally(all_ranks(), {n, 7}));
    context& one = *groups.back();
    const bool slots = one.native_in_memory(signature_of(collective::allgatherv)).has_value();
    require(slots == (n < shm::group_memory::sizes{}.large_groups),
            "group " + std::to_string(n) + " has other memory");
    reduce_in(one, slots ? 512 : 3, false);
    agreed_signature longer = signature_of(collective::bcast);
    longer.count = 49;
    require((one.offers(longer) == native_offer::any) == slots, "a group without slots offers long calls");
    longer.count = 48;
    require(one.offers(longer) == native_offer::any, "a group does not offer short calls");
  }
  // Their memory is used again.
  groups.clear();
  for (word n = 2000; n < 4000; ++n) reduce_in(*ep.open_locally(all_ranks(), {n, 7}), 3, true);
}

void run_all() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  const auto job = ep.open(all_ranks(), 0, nullptr);
  require(job->native_in_memory(signature_of(collective::barrier)).has_value(),
          "the job has no memory of the node");
  require(!job->native_in_memory(signature_of(collective::reduce_scatter)), "reduce_scatter is not MPI's");
  collectives_of_mpi = 0;
  run_blocking(*job);
  run_overlapping(*job);
  run_prepared(*job);
  run_wrong_lengths(*job);
  run_prepared_moves(*job);
  reduce_in(*job, 9, false);
  run_aligned(*job);
  run_aligned(*ep.open_locally(all_ranks(), {1, 8}));
  run_throwing(*ep.open_locally(all_ranks(), {2, 8}));
  run_groups(ep);
  require(collectives_of_mpi == 0, "MPI has executed a collective");
  require(ep.memory().calls_by_address() == 0, "a call has gone by address");
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "cells", 1);  // calls_by_address.cpp tests the other way
  tests::run_test(argc, argv, run_all);
}
