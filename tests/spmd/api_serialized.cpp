// SPDX-License-Identifier: Apache-2.0
//
// Tests objects of any type in every call that accepts them, and the errors of wrong calls.
#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"
#include "support/serialized_objects.hpp"

using namespace tutti;
using namespace tests::objects;
using tests::check;

namespace {

void between_two(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const table mine = table_of(me), theirs = table_of(left);
  const auto from_left = [&](const table& t) { check.that(t == theirs); };
  const auto take = [&] { return comm.recv(recv_buf(as_deserializable<table>()), source(left)); };
  comm.bsend(send_buf(as_serialized(mine)), destination(right));
  from_left(take());
  comm.send(send_buf(as_serialized(mine)), destination(right), send_mode(send_modes::buffered), tag(4));
  auto [t, how] = comm.recv(source(left), recv_buf(as_deserializable<table>()), status_out(), tag(4));
  from_left(t);
  check.that(how.source() == left && how.tag() == 4 && how.bytes() >= 8);
  for (int form = 0; form < 4; ++form) {
    table changed = mine;  // the call has already serialized the object
    auto sent = form == 0   ? comm.isend(send_buf(as_serialized(changed)), destination(right))
                : form == 1 ? comm.issend(send_buf(as_serialized(std::move(changed))), destination(right))
                : form == 2 ? comm.ibsend(send_buf(as_serialized(changed)), destination(right))
                            : comm.isend(send_buf(as_serialized(std::as_const(changed))), destination(right));
    changed.clear();
    from_left(take());
    sent.wait();
  }
  {
    auto coming = comm.irecv(recv_buf(as_deserializable<table>()), source(left));
    comm.barrier();
    comm.rsend(send_buf(as_serialized(mine)), destination(right));
    from_left(coming.wait());
  }
  {
    // Receives into an object of the caller through a request.
    table into = {{-1, "old"}};
    request sent, received;
    comm.irecv(recv_buf(as_deserializable(into)), source(left), request(received));
    comm.issend(send_buf(as_serialized(mine)), destination(right), request(sent));
    check.equal(received.wait().source(), left);
    sent.wait();
    from_left(into);
  }
  {
    auto sent = comm.isend(send_buf(as_serialized(city_of(me))), destination(right), tag(6));
    city moved = {std::string(100, 'x'), {}, {}};
    const char* storage = moved.name.data();
    moved = comm.recv(recv_buf(as_deserializable(std::move(moved))), source(left), tag(6));
    check.that(moved == city_of(left) && moved.name.data() == storage);
    sent.wait();
  }
  {
    auto sent = comm.isend(send_buf(as_serialized(mine)), destination(right), tag(7));
    std::optional<table> got;
    while (!(got = comm.try_recv(recv_buf(as_deserializable<table>()), source(left), tag(7)))) {
    }
    from_left(*got);
    sent.wait();
    check.that(!comm.try_recv(recv_buf(as_deserializable<table>()), source(left), tag(7)));
  }
  {
    auto sent = comm.isend(send_buf(as_serialized(mine)), destination(right), tag(8));
    message found = comm.mprobe(tag(8));
    table into;
    found.recv(recv_buf(as_deserializable(into)));
    from_left(into);
    sent.wait();
  }
  // A named object can be sent repeatedly, each time with its current contents.
  table kept = mine;
  auto named = as_serialized(kept);
  comm.bsend(send_buf(named), destination(right));
  kept.clear();
  comm.bsend(send_buf(named), destination(right));
  from_left(take());
  check.that(take().empty());
  // A message from rank::null is no object.
  table untouched = {{1, "x"}};
  comm.recv(recv_buf(as_deserializable(untouched)), source(rank::null));
  comm.send(send_buf(as_serialized(mine)), destination(rank::null));
  check.equal(untouched.size(), 1u);
}

void exchanges(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const anything mine = anything_of(me), theirs = anything_of(left);
  check.that(comm.sendrecv(send_buf(as_serialized(mine)), destination(right), source(left)) == theirs);
  {
    auto [x, how] =
        comm.sendrecv(send_buf(as_serialized(mine)), destination(right), source(left), status_out());
    check.that(x == theirs && how.source() == left);
  }
  {
    anything into = anything_of(me + 3);
    comm.sendrecv(send_buf(as_serialized(mine)), recv_buf(as_deserializable(into)), destination(right),
                  source(left));
    check.that(into == theirs);
  }
  {
    anything both = mine;
    comm.sendrecv(send_recv_buf(as_serialized(both)), destination(right), source(left));
    check.that(both == theirs);
    both = comm.sendrecv(send_recv_buf(as_serialized(anything_of(me))), destination(right), source(left));
    check.that(both == theirs);
  }
  // An object in one direction, elements in the other.
  comm.barrier();
  const int partner = me % 2 == 0 ? me + 1 : me - 1;
  if (partner < p) {
    if (me % 2 == 0)
      check.equal(
          comm.sendrecv<int>(send_buf(as_serialized(city_of(me))), destination(partner), source(partner)),
          std::vector<int>{partner});
    else
      check.that(comm.sendrecv(send_buf(me), recv_buf(as_deserializable<city>()), destination(partner),
                               source(partner)) == city_of(partner));
  }
}

void bcasts(communicator& comm) {
  for (int q = 0; q < comm.size(); ++q) {
    table t = comm.rank() == q ? table_of(q) : table{{-5, "old"}};
    comm.bcast(send_recv_buf(as_serialized(t)), root(q));
    check.that(t == table_of(q));
    check.that(comm.bcast(root(q), send_recv_buf(as_serialized(anything_of(comm.rank())))) == anything_of(q));
    table later = comm.rank() == q ? table_of(q + 1) : table{};
    auto request = comm.ibcast(send_recv_buf(as_serialized(later)), root(q));
    auto other = comm.ibcast(send_recv_buf(as_serialized(city_of(comm.rank()))), root(q));
    request.wait();
    check.that(later == table_of(q + 1) && other.wait() == city_of(q));
  }
  communicator mine = comm;
  mine.default_root(comm.size() - 1);
  std::string s = std::to_string(comm.rank());
  mine.bcast(send_recv_buf(as_serialized(s)));
  check.equal(s, std::to_string(comm.size() - 1));
}

template <class T, class Make>
std::vector<T> of_all(int p, Make&& make) {
  std::vector<T> all;
  for (int r = 0; r < p; ++r) all.push_back(make(r));
  return all;
}

void gathers(communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const auto tables = of_all<table>(p, table_of);
  const auto things = of_all<anything>(p, anything_of);
  check.that(comm.allgather(send_buf(as_serialized(table_of(me)))) == tables);
  check.that(comm.allgather(recv_buf(), send_buf(as_serialized(table_of(me)))) == tables);
  check.that(comm.allgather(send_buf(as_serialized(anything_of(me)))) == things);
  check.that(comm.allgather(send_buf(as_serialized(table_of(me))), algorithm("ring")) == tables);
  auto later = comm.iallgather(send_buf(as_serialized(anything_of(me))));
  check.that(comm.allgather(send_buf(as_serialized(me % 2 == 0))) == [&] {
    dynamic_array<bool> even(static_cast<std::size_t>(p));
    for (int r = 0; r < p; ++r) even[static_cast<std::size_t>(r)] = r % 2 == 0;
    return even;
  }());
  check.that(later.wait() == things);
  std::list<table> list(3);
  comm.allgather(send_buf(as_serialized(table_of(me))), recv_buf(as_deserializable(list)));
  check.that(std::vector<table>(list.begin(), list.end()) == tables);
  const auto deque =
      comm.allgather(send_buf(as_serialized(table_of(me))), recv_buf(as_deserializable<std::deque<table>>()));
  check.that(std::vector<table>(deque.begin(), deque.end()) == tables);
  for (int q = 0; q < p; ++q) {
    const auto here = [&](const std::vector<table>& t) { return me == q ? t : std::vector<table>{}; };
    check.that(comm.gather(send_buf(as_serialized(table_of(me))), root(q)) == here(tables));
    check.that(comm.igather(root(q), send_buf(as_serialized(table_of(me)))).wait() == here(tables));
    std::vector<table> into(1);
    comm.gather(send_buf(as_serialized(table_of(me))), recv_buf(as_deserializable(into)), root(q));
    check.that(into == (me == q ? tables : std::vector<table>(1)));
  }
}

void scatters(communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const auto tables = of_all<table>(p, table_of);
  for (int q = 0; q < p; ++q) {
    const auto at_root = me == q ? tables : std::vector<table>{};
    check.that(comm.scatter(send_buf(as_serialized(at_root)), root(q)) == table_of(me));
    check.that(comm.iscatter(send_buf(as_serialized(at_root)), root(q)).wait() == table_of(me));
    table into;
    if (me == q)
      comm.scatter(send_buf(as_serialized(std::list<table>(tables.begin(), tables.end()))),
                   recv_buf(as_deserializable(into)), root(q));
    else
      into = comm.scatter(recv_buf(as_deserializable<table>()), root(q));
    check.that(into == table_of(me));
  }
}

void alltoalls(communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const auto to = [&](int from) { return [from](int r) { return anything_of(3 * from + r); }; };
  const auto expected = of_all<anything>(p, [&](int from) { return anything_of(3 * from + me); });
  const auto mine = of_all<anything>(p, to(me));
  check.that(comm.alltoall(send_buf(as_serialized(mine))) == expected);
  check.that(comm.ialltoall(send_buf(as_serialized(mine))).wait() == expected);
  std::vector<anything> into;
  comm.alltoall(send_buf(as_serialized(std::deque<anything>(mine.begin(), mine.end()))),
                recv_buf(as_deserializable(into)));
  check.that(into == expected);
  const std::vector<bool> bits(static_cast<std::size_t>(p), me % 2 == 0);
  const auto got = comm.alltoall(send_buf(as_serialized(bits)));
  for (int r = 0; r < p; ++r) check.equal(got[static_cast<std::size_t>(r)], r % 2 == 0);
}

void between(communicator& comm) {
  if (comm.size() < 2) return;
  const int first = (comm.size() + 1) / 2;
  intercommunicator sides = comm.between(first);
  const int begin = sides.in_first_group() ? first : 0;
  const auto others = of_all<table>(sides.remote_size(), [&](int i) { return table_of(begin + i); });
  check.that(sides.allgather(send_buf(as_serialized(table_of(comm.rank())))) == others);
  for (int q = 0; q < comm.size(); ++q) {
    const bool receives = (comm.rank() < first) != (q < first);
    city c = comm.rank() == q ? city_of(q) : city{"mine", {}, {}};
    sides.bcast(send_recv_buf(as_serialized(c)), root(q));
    check.that(c == (receives || comm.rank() == q ? city_of(q) : city{"mine", {}, {}}));
    const auto there =
        of_all<table>(comm.rank() == q ? sides.remote_size() : 0, [&](int i) { return table_of(begin + i); });
    const table mine = sides.scatter(send_buf(as_serialized(there)), root(q));
    check.that(mine == (receives ? table_of(comm.rank()) : table{}));
    check.that(sides.gather(send_buf(as_serialized(table_of(comm.rank()))), root(q)) ==
               (comm.rank() == q ? others : std::vector<table>{}));
  }
}

void usage_errors(communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const std::vector<std::string> few(static_cast<std::size_t>(p + 1));
  check.throws<usage_error>([&] { comm.alltoall(send_buf(as_serialized(few))); },
                            {"alltoall on", "send_buf", "objects for"});
  try {
    comm.scatter(send_buf(as_serialized(few)), root(p - 1));
    check.that(false);
  } catch (const usage_error& e) {
    check.that(me == p - 1 && e.operation() == "scatter" && e.parameter() == "send_buf");
  } catch (const peer_error&) {
    check.that(me != p - 1);
  }
  check.throws<usage_error>([&] { comm.send(send_buf(as_serialized(few)), destination(p)); },
                            {"destination"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& run) {
    run("messages", [&] { between_two(comm); });
    run("exchanges", [&] { exchanges(comm); });
    run("bcasts", [&] { bcasts(comm); });
    run("gathers", [&] { gathers(comm); });
    run("scatters", [&] { scatters(comm); });
    run("alltoalls", [&] { alltoalls(comm); });
    run("between", [&] { between(comm); });
    run("usage_errors", [&] { usage_errors(comm); });
  });
}
