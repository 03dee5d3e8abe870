// SPDX-License-Identifier: Apache-2.0
//
// The numbers of native collectives in memory wrap while calls are under way: in lines, in slots,
// by address, and in the messages that replace refused reads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "base/agreed_signature.hpp"
#include "checked_call.hpp"
#include "mpi_program.hpp"
#include "refused_reads.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

// The messages of refused reads have 34 bits of the number.
constexpr std::uint64_t starts[] = {(word{1} << 32) - 3, (word{1} << 34) - 3, ~word{2}};

// Many calls at a time, which end in the reverse order. Without slots, the group does not offer
// those whose post is longer than a line.
void run_overlapping(context& c, const std::vector<std::size_t>& lengths) {
  constexpr collective kinds[] = {collective::allreduce, collective::bcast,   collective::barrier,
                                  collective::gather,    collective::scatter, collective::scan,
                                  collective::reduce};
  std::vector<std::unique_ptr<checked_call<matrix>>> calls;
  std::vector<native_state> states(21);
  std::vector<bool> complete(states.size());
  std::size_t left = 0;
  for (unsigned i = 0; i < states.size(); ++i) {
    calls.push_back(std::make_unique<checked_call<matrix>>(kinds[i % 7], lengths[i % lengths.size()],
                                                           static_cast<int>(i) % here_is.size, i, false));
    if (c.offers(agreed_part(calls.back()->made, here_is.size)) == native_offer::any)
      c.native_begin(calls.back()->made, states[i]), ++left;
    else
      complete[i] = true;
  }
  require(left >= states.size() - 3, "the group offers few calls");
  for (; left > 0; c.ep().pause(here))
    for (std::size_t i = states.size(); i-- > 0;)
      if (!complete[i] && c.native_progress(states[i], false, here)) {
        complete[i] = true;
        calls[i]->compare();
        --left;
      }
}

// The first calls overlap the wrap; the later ones are blocking.
void run(context& c, const std::vector<std::size_t>& lengths) {
  run_overlapping(c, lengths);
  for (const std::size_t n : lengths) {
    // Calls of ranks that share a core take long.
    if (here_is.size > 2 && n != lengths.back()) continue;
    check_calls<matrix>(kinds_that_combine, {n}, [&](const call& made) { c.native(made, here); });
    check_calls<word>(kinds_that_move, {n}, [&](const call& made) { c.native(made, here); });
  }
}

// Only a group that numbers its calls from `start` makes the wrap.
std::unique_ptr<context> open(tutti::mpi::mpi_endpoint& ep, word name, word start) {
  ep.memory().set_first_call(start);
  auto made = ep.open_locally(all_ranks(), {name, 9});
  agreed_signature barrier;
  barrier.what = collective::barrier;
  barrier.ranks = here_is.size;
  require(made->native_in_memory(barrier).has_value(), "a group has no memory");
  MPI_Barrier(MPI_COMM_WORLD);
  return made;
}

void run_all() {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  tutti::mpi::node_memory& memory = ep.memory();
  require(memory.is_open(), "there is no memory of the node");
  word name = 1;
  for (const word start : starts) run(*open(ep, name++, start), {1, 3, 100, 600});
  require(memory.calls_by_address() == 0, "a call has gone by address");

  std::vector<std::unique_ptr<context>> with_slots;
  while (with_slots.size() < tutti::shm::group_memory::sizes{}.large_groups)
    with_slots.push_back(open(ep, 100 + with_slots.size(), 0));
  for (const word start : starts) {
    const auto c = open(ep, name++, start);
    agreed_signature longer;
    longer.what = collective::bcast;
    longer.ranks = here_is.size;
    longer.count = 49;
    require(c->offers(longer) != native_offer::any, "the group has slots");
    run_overlapping(*c, {1});
    for (int i = 0; i < 20; ++i) {
      checked_call<word> one(collective::allreduce, 3, 0, static_cast<unsigned>(i), false);
      c->native(one.made, here);
      one.compare();
    }
  }
  with_slots.clear();
  MPI_Barrier(MPI_COMM_WORLD);

  if (!memory.may_copy()) {
    if (here_is.rank == 0) std::printf("no call goes by address here: %s\n", memory.why_not_copy().c_str());
    ep.end();
    return;
  }
  memory.set_min_bytes_by_address(1);
  for (const word start : starts) run(*open(ep, name++, start), {1, 3, 5000, 9000});
  require(memory.calls_by_address() > 100,
          "only " + std::to_string(memory.calls_by_address()) + " calls have gone by address");

  captured_errors errors;
  const bool refused = here_is.rank == here_is.size - 1 && refuse_reads();
  for (const word start : starts) run(*open(ep, name++, start), {600, 5000});
  const bool reported = errors.text().find("may not read the memory of rank") != std::string::npos;
  require(reported == refused, "the report of a refused read is missing, or wrong");
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "copy", 1);
  tests::run_test(argc, argv, run_all);
}
