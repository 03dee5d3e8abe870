// SPDX-License-Identifier: Apache-2.0
//
// Tests wildcards, try_recv, probes and matched messages, and messages to and from rank::null.
#include <map>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/ring_messages.hpp"

using namespace tutti;
using tests::check;
using tests::made_by;
using tests::ring;

namespace {

using ints = std::vector<int>;

void wildcards(communicator& comm) {
  // Each rank sends to each: messages of one sender keep their order, whichever sender is first.
  const ring r(comm);
  std::vector<nonblocking_result<void>> sent;
  for (int i = 0; i < 3; ++i)
    for (int to = 0; to < r.p; ++to)
      sent.push_back(comm.isend(send_buf({r.me, i}), destination(to), tag(i % 2)));
  std::map<int, ints> order;
  for (int k = 0; k < 2 * r.p; ++k) {
    auto [v, how] = comm.recv<int>(tag(0), status_out());
    check.equal(v[0], how.source());
    check.equal(how.tag(), 0);
    order[v[0]].push_back(v[1]);
  }
  for (int from = 0; from < r.p; ++from) {
    check.equal(order[from], ints{0, 2});
    check.equal(comm.recv<int>(source(from))[1], 1);
  }
  wait_all(sent);
  check.that(!comm.iprobe());
}

void probes(communicator& comm) {
  const ring r(comm);
  check.that(!comm.try_recv<int>());
  check.that(!comm.iprobe(source(r.left), tag(9)));
  check.that(!comm.iprobe(status_out()).has_value());
  comm.barrier();
  auto sent = comm.isend(send_buf(made_by(r.me, 4)), destination(r.right), tag(9));
  comm.probe(source(r.left), tag(9));
  status s;
  comm.probe(status(s));
  check.equal(s.count<int>(), 4u);
  check.equal(comm.probe(status_out()).extract_status().tag(), 9);
  check.that(comm.iprobe());
  check.that(!comm.iprobe(tag(8)));
  status t;
  check.that(comm.iprobe(status(t)));
  check.that(s == t);
  check.equal(comm.iprobe(status_out())->extract_status().source(), r.left);
  check.that(!comm.try_recv<int>(tag(8)));
  auto got = comm.try_recv<int>(source(r.left), recv_count_out());
  check.that(got.has_value());
  check.equal(got->extract_recv_count(), 4);
  check.equal(got->extract_recv_buf(), made_by(r.left, 4));
  sent.wait();

  // A loop of try_recv with late senders.
  const int rounds = 5;
  std::vector<nonblocking_result<void>> several;
  for (int i = 0; i < rounds; ++i) several.push_back(comm.isend(send_buf({r.me, i}), destination(r.right)));
  ints v(2);
  for (int i = 0; i < rounds;) {
    if (!comm.try_recv(recv_buf(v), source(r.left))) continue;
    check.equal(v, ints{r.left, i});
    ++i;
  }
  wait_all(several);
}

void matched_probes(communicator& comm) {
  const ring r(comm);
  check.that(!comm.improbe());
  check.that(!message().valid());
  comm.barrier();
  std::vector<nonblocking_result<void>> sent;
  for (int i = 0; i < 3; ++i)
    sent.push_back(comm.isend(send_buf(made_by(r.me, i + 1)), destination(r.right)));
  {
    message first = comm.mprobe(source(r.left));
    check.that(first.valid());
    check.equal(first.status().count<int>(), 1u);
    const message second = comm.mprobe();  // returned to the queue at the end of this block
    check.equal(second.status().count<int>(), 2u);
    ints none;
    check.throws<usage_error>([&] { first.recv(recv_buf(none)); }, {"recv", "recv_buf"});
    check.that(first.valid());
    check.equal(first.recv_single<int>(), 1000 * r.left);
    check.that(!first.valid());
    check.throws<usage_error>([&] { first.recv<int>(); }, {"message"});
  }
  std::optional<message> again;
  while (!(again = comm.improbe(tag(0)))) {
  }
  check.equal(again->status().count<int>(), 2u);
  auto coming = again->irecv<int>(status_out());
  check.that(!again->valid());
  auto [v, how] = coming.wait();
  check.equal(v, made_by(r.left, 2));
  check.equal(how.source(), r.left);
  message last = comm.mprobe();
  last = message(std::move(last));
  check.throws<truncation_error>([&] { last.recv<int>(recv_count(2)); }, {"recv_count"});
  check.that(!last.valid());
  check.that(!comm.iprobe());
  wait_all(sent);
}

void null_rank(communicator& comm) {
  comm.send(send_buf(1), destination(rank::null));
  comm.isend(send_buf({1, 2}), destination(rank::null)).wait();
  auto [v, how] = comm.recv<int>(source(rank::null), status_out());
  check.that(v.empty());
  check.equal(how.source(), rank::null);
  check.equal(how.count<int>(), 0u);
  ints w = {1, 2};
  comm.recv(recv_buf(w), source(rank::null));
  check.equal(w, ints{1, 2});
  comm.recv(recv_buf<resize_to_fit>(w), source(rank::null), recv_count(5));
  check.that(w.empty());
  check.equal(comm.recv_single<int>(source(rank::null)), 0);
  check.that(comm.irecv<int>(source(rank::null)).wait().empty());
  check.that(comm.try_recv<int>(source(rank::null)).has_value());
  comm.probe(source(rank::null));
  check.that(comm.iprobe(source(rank::null)));
  message m = comm.mprobe(source(rank::null));
  check.that(m.valid());
  check.that(m.recv<int>().empty());
  check.that(!m.valid());
  check.that(comm.improbe(source(rank::null)).has_value());
  // A line of ranks: its ends have rank::null as neighbors.
  const int me = comm.rank(), p = comm.size();
  const ints got = comm.sendrecv(send_buf(me), destination(me + 1 < p ? me + 1 : rank::null),
                                 source(me > 0 ? me - 1 : rank::null));
  check.equal(got, me > 0 ? ints{me - 1} : ints{});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    const auto run = [&](const char* name, const auto& body) {
      tests::isolated_case(comm, cases, name, body);
    };
    run("wildcards", wildcards);
    run("probes", probes);
    run("matched_probes", matched_probes);
    run("null_rank", null_rank);
  });
}
