// SPDX-License-Identifier: Apache-2.0
//
// Short collectives over MPI use the memory of the node: all lengths, roots and operators, blocking
// and not, over communicators and groups. MPI's own collectives are counted: there must be none.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "engines/mpi/mpi_endpoint.hpp"
#include "tutti/element.hpp"

namespace {
int collectives_of_mpi = 0;
}

extern "C" int MPI_Barrier(MPI_Comm c) {
  ++collectives_of_mpi;
  return PMPI_Barrier(c);
}
extern "C" int MPI_Bcast(void* a, int n, MPI_Datatype t, int root, MPI_Comm c) {
  ++collectives_of_mpi;
  return PMPI_Bcast(a, n, t, root, c);
}
extern "C" int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  ++collectives_of_mpi;
  return PMPI_Allreduce(a, b, n, t, o, c);
}
extern "C" int MPI_Ibarrier(MPI_Comm c, MPI_Request* r) {
  ++collectives_of_mpi;
  return PMPI_Ibarrier(c, r);
}
extern "C" int MPI_Ibcast(void* a, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r) {
  ++collectives_of_mpi;
  return PMPI_Ibcast(a, n, t, root, c, r);
}
extern "C" int MPI_Iallreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c,
                              MPI_Request* r) {
  ++collectives_of_mpi;
  return PMPI_Iallreduce(a, b, n, t, o, c, r);
}

namespace {

using namespace tutti;
using namespace tutti::detail;
using word = std::uint64_t;

int my_rank = 0, my_size = 1;
const shm::wait_site here{"test", "", "the other ranks", -1, -1, shm::wait_site::unnumbered};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("rank " + std::to_string(my_rank) + ": " + what);
}

// Does not commute: left * 10 + right.
void digits(const void* left, const void* right, void* result, std::size_t n, void*) {
  for (std::size_t i = 0; i < n; ++i)
    static_cast<word*>(result)[i] =
        static_cast<const word*>(left)[i] * 10 + static_cast<const word*>(right)[i];
}

// A call, its data, and the expected result.
struct one_call {
  one_call(collective what, std::size_t n, int root, word value, bool in_place)
      : mine(n, what == collective::bcast ? value : value + static_cast<word>(my_rank)),
        result(n),
        expected(n, value) {
    made.what = what;
    made.root = root;
    made.type = element_of<word>();
    made.count = n;
    made.in_place = in_place && what == collective::allreduce;
    if (what == collective::allreduce) {
      made.op.combine = digits;
      word digits_of_all = 0;
      for (int r = 0; r < my_size; ++r) digits_of_all = digits_of_all * 10 + value + static_cast<word>(r);
      expected.assign(n, digits_of_all);
    }
    if (made.in_place) result = mine;
    made.input =
        made.in_place || (what == collective::bcast && my_rank != root) ? result.data() : mine.data();
    made.output = what == collective::bcast && my_rank == root ? mine.data() : result.data();
  }
  void compare() const {
    if (made.what == collective::barrier) return;
    const auto& got = made.what == collective::bcast && my_rank == made.root ? mine : result;
    require(got == expected,
            std::string(name_of(made.what)) + " of " + std::to_string(made.count) + " words");
  }
  std::vector<word> mine, result, expected;
  call made;
};

constexpr collective kinds[] = {collective::barrier, collective::bcast, collective::allreduce};

void run_blocking(context& c) {
  word value = 1;
  for (const std::size_t n : {0, 1, 2, 6, 7, 63, 512, 513, 5000, 8192})
    for (const collective what : kinds)
      for (int root = 0; root < my_size; ++root)
        for (const bool in_place : {false, true}) {
          const one_call one(what, n, root, value++ % 7, in_place);
          c.native(one.made, here);
          one.compare();
        }
}

// Many calls at a time, which end in any order.
void run_overlapping(context& c) {
  std::vector<std::unique_ptr<one_call>> calls;
  std::vector<native_state> states(24);
  std::vector<bool> complete(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    calls.push_back(std::make_unique<one_call>(kinds[i % 3],
                                               i % 5 == 0   ? 100
                                               : i % 7 == 0 ? 1500
                                                            : i % 6,
                                               static_cast<int>(i) % my_size, i % 7, i % 2 == 0));
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

group all_ranks() { return group::range(0, 1, my_size, my_rank); }

void run_all() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  const auto job = ep.open(all_ranks(), 0, nullptr);
  agreed_signature s;
  s.what = collective::barrier;
  s.ranks = my_size;
  require(job->native_in_memory(s) == std::optional<std::size_t>(0), "the job has no memory of the node");
  collectives_of_mpi = 0;
  run_blocking(*job);
  run_overlapping(*job);
  require(collectives_of_mpi == 0, "MPI has executed a short collective");
  const one_call longer(collective::bcast, (1 << 17) + 1, 0, 5, false);
  job->native(longer.made, here);
  longer.compare();
  require(collectives_of_mpi == 1, "MPI has not executed a long collective");

  // The first groups have slots, later ones only lines. None of them sends a message.
  std::vector<std::unique_ptr<context>> groups;
  for (word n = 1; n <= 1000; ++n) {
    groups.push_back(ep.open_locally(all_ranks(), {n, 7}));
    const bool slots = groups.back()->native_in_memory(s) == std::optional<std::size_t>(0);
    require(slots == (n < 16), "group " + std::to_string(n) + " has another limit");
    const one_call one(collective::allreduce, slots ? 512 : 6, 0, n % 7, false);
    groups.back()->native(one.made, here);
    one.compare();
  }
  require(collectives_of_mpi == 1, "MPI has executed a collective of a group");
  // Their memory is used again.
  groups.clear();
  for (word n = 2000; n < 4000; ++n) {
    const auto one_group = ep.open_locally(all_ranks(), {n, 7});
    const one_call one(collective::allreduce, 3, 0, n % 7, true);
    agreed_signature a = agreed_part(one.made, my_size);
    require(one_group->offers(a) == native_offer::any, "group " + std::to_string(n) + " has no memory");
    one_group->native(one.made, here);
    one.compare();
  }
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &my_size);
  try {
    if (my_size > 1) run_all();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FAILED %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
