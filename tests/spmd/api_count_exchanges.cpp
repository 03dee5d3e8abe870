// SPDX-License-Identifier: Apache-2.0
//
// Compares the table of count exchanges, the source of docs/parameters.md, with the calls. If the
// parameter is omitted, the call also runs the collective in the table. If the parameter, or a
// substitute, is given, it runs none.
#include <functional>
#include <vector>

#include <tutti/tutti.hpp>

#include "communicator/count_exchanges.hpp"
#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using names = std::vector<collective>;
using one_call = std::function<void(communicator&)>;

// Returns the collectives that a call runs, without the call itself. Only a bcast that uses a bcast
// to exchange the count counts twice.
names run_by(const communicator& world, collective except, const one_call& call) {
  communicator fresh = world.duplicate();
  call(fresh);
  names ran;
  for (std::size_t i = 0; i < collective_names.size(); ++i)
    if (const auto what = static_cast<collective>(i); what != except && *fresh.last_algorithm(what) != '\0')
      ran.push_back(what);
  return ran;
}

const detail::exchange_of_counts& entry_of(collective what) {
  for (const detail::exchange_of_counts& e : detail::exchanges_of_counts)
    if (e.of == what) return e;
  throw std::logic_error("no such entry");
}

// `without` omits the parameter of the table entry; each call of `with` gives it, or a substitute.
void compare(communicator& world, collective what, const one_call& without,
             const std::vector<one_call>& with) {
  check.equal(run_by(world, what, without), names{entry_of(what).by});
  for (const one_call& call : with) check.equal(run_by(world, what, call), names{});
}

void vector_forms(communicator& world) {
  const std::vector<int> v(world.size(), 1), ones(world.size(), 1), one(1);
  compare(world, collective::gatherv, [&](communicator& c) { c.gatherv(send_buf(one)); },
          {[&](communicator& c) { c.gatherv(send_buf(one), recv_counts(ones)); }});
  compare(world, collective::allgatherv, [&](communicator& c) { c.allgatherv(send_buf(one)); },
          {[&](communicator& c) { c.allgatherv(send_buf(one), recv_counts(ones)); }});
  compare(world, collective::scatterv, [&](communicator& c) { c.scatterv(send_buf(v), send_counts(ones)); },
          {[&](communicator& c) { c.scatterv(send_buf(v), send_counts(ones), recv_count(1)); }});
  compare(world, collective::alltoallv, [&](communicator& c) { c.alltoallv(send_buf(v), send_counts(ones)); },
          {[&](communicator& c) { c.alltoallv(send_buf(v), send_counts(ones), recv_counts(ones)); }});
}

void scatter_from_one(communicator& world) {
  const std::vector<int> v(world.size(), 1);
  compare(world, collective::scatter, [&](communicator& c) { c.scatter(send_buf(v)); },
          {[&](communicator& c) { c.scatter(send_buf(v), recv_count(1)); },
           [&](communicator& c) { c.scatter(send_buf(v), send_recv_count(1)); },
           [&](communicator& c) { c.scatter_single(send_buf(v)); }});
}

// All other collectives with blocks or vectors exchange nothing.
void no_other_exchanges(communicator& world) {
  const std::vector<int> v(world.size(), 1), ones(world.size(), 1);
  const auto silent = [&](collective what, const one_call& call) {
    check.equal(run_by(world, what, call), names{});
  };
  silent(collective::gather, [&](communicator& c) { c.gather(send_buf(v)); });
  silent(collective::allgather, [&](communicator& c) { c.allgather(send_buf(v)); });
  silent(collective::alltoall, [&](communicator& c) { c.alltoall(send_buf(v)); });
  silent(collective::reduce, [&](communicator& c) { c.reduce(send_buf(v), op(std::plus<>{})); });
  silent(collective::allreduce, [&](communicator& c) { c.allreduce(send_buf(v), op(std::plus<>{})); });
  silent(collective::scan, [&](communicator& c) { c.scan(send_buf(v), op(std::plus<>{})); });
  silent(collective::exscan, [&](communicator& c) { c.exscan(send_buf(v), op(std::plus<>{})); });
  silent(collective::reduce_scatter,
         [&](communicator& c) { c.reduce_scatter(send_buf(v), op(std::plus<>{}), recv_counts(ones)); });
  silent(collective::reduce_scatter_block,
         [&](communicator& c) { c.reduce_scatter_block(send_buf(v), op(std::plus<>{})); });
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("vector_forms", [&] { vector_forms(world); });
    cases("scatter", [&] { scatter_from_one(world); });
    cases("no_other_exchanges", [&] { no_other_exchanges(world); });
  });
}
