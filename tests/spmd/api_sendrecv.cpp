// SPDX-License-Identifier: Apache-2.0
//
// Tests sendrecv in all its forms, the default root and tag, and rejected point-to-point calls.
// These must throw the right exception and send nothing, and the communicator must stay usable.
#include <numeric>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/ring_messages.hpp"

using namespace tutti;
using tests::check;
using tests::made_by;
using tests::ring;

namespace {

using ints = std::vector<int>;

int length(int r) { return (r * 3 + 1) % 5; }

void exchanges(communicator& comm) {
  const ring r(comm);
  const ints mine = made_by(r.me, length(r.me)), theirs = made_by(r.left, length(r.left));
  check.equal(comm.sendrecv(send_buf(mine), destination(r.right)), theirs);
  check.equal(comm.sendrecv<int>(source(r.left), destination(r.right), send_buf(mine), tag(2)), theirs);
  {
    auto [v, n, how, sent] = comm.sendrecv(send_buf(mine), destination(r.right), source(r.left), send_tag(5),
                                           recv_tag(5), recv_count_out(), status_out(), send_count_out());
    check.equal(v, theirs);
    check.equal(n, length(r.left));
    check.that(how.tag() == 5 && how.source() == r.left);
    check.equal(sent, length(r.me));
  }
  {
    // A different tag for each direction.
    status s;
    ints v;
    comm.sendrecv(recv_buf<resize_to_fit>(v), status(s), send_buf(mine), destination(r.right), send_tag(7));
    check.equal(v, theirs);
    check.equal(s.tag(), 7);
  }
  // Sent and received elements may have different types.
  comm.barrier();  // up to here, messages came only from the left
  const int next = r.me % 2 == 0 ? 1 : -1, partner = r.me + next;
  if (partner >= 0 && partner < r.p) {
    if (r.me % 2 == 0)
      check.equal(comm.sendrecv<double>(send_buf(ints{r.me}), destination(partner), source(partner))[0],
                  partner + 0.5);
    else
      check.equal(comm.sendrecv<int>(send_buf(r.me + 0.5), destination(partner), source(partner)),
                  ints{partner});
  }
  // Large messages in both directions at once. A moved buffer is returned.
  const int n = 40000;
  ints large = made_by(r.me, n);
  check.equal(comm.sendrecv(send_buf(large), destination(r.right), source(r.left), recv_count(n)),
              made_by(r.left, n));
  const int* storage = large.data();
  large = comm.sendrecv(send_recv_buf(std::move(large)), destination(r.right), source(r.left));
  check.that(large.data() == storage);
  check.equal(large, made_by(r.left, n));
}

void in_place(communicator& comm) {
  const ring r(comm);
  ints v = made_by(r.me, length(r.me));
  comm.sendrecv(send_recv_buf<resize_to_fit>(v), destination(r.right), source(r.left));
  check.equal(v, made_by(r.left, length(r.left)));
  int x = r.me;
  status s;
  comm.sendrecv(send_recv_buf(x), destination(r.right), source(r.left), tag(3), status(s));
  check.equal(x, r.left);
  check.equal(s.tag(), 3);
  int array[3] = {r.me, 1, 2};
  int n = 0;
  comm.sendrecv(send_recv_buf(array), destination(r.right), send_count(2), recv_count_out(n));
  check.that(n == 2 && array[0] == r.left && array[1] == 1 && array[2] == 2);
  v = {r.me, r.me};
  comm.sendrecv(send_recv_buf<grow_only>(v), destination(r.right), recv_count(4));
  check.equal(v, ints{r.left, r.left, 0, 0});
  v = {r.me, r.me, r.me};
  comm.sendrecv(send_recv_buf<resize_to_fit>(v), destination(r.right), send_count(1), recv_count(3));
  check.equal(v, ints{r.left});
  auto [w, how] =
      comm.sendrecv(send_recv_buf<resize_to_fit>(ints{r.me, 5}), destination(r.right), status_out());
  check.equal(w, ints{r.left, 5});
  check.equal(how.count<int>(), 2u);
}

void defaults(communicator& comm) {
  const ring r(comm);
  communicator mine = comm;
  check.that(mine.default_root() == 0 && mine.default_tag() == 0);
  mine.default_root(r.p - 1);
  mine.default_tag(17);
  check.that(mine.is_root() == (r.me == r.p - 1) && mine.is_root(0) == (r.me == 0));
  check.that(comm.default_root() == 0 && comm.default_tag() == 0);
  ints ranks(static_cast<std::size_t>(r.p));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto here = [&](const ints& v) { return mine.is_root() ? v : ints{}; };
  check.equal(mine.gather(send_buf(r.me)), here(ranks));
  check.equal(mine.gatherv(send_buf(r.me)), here(ranks));
  check.equal(mine.reduce(send_buf(1), op(std::plus<>{})), here({r.p}));
  check.equal(mine.igather(send_buf(r.me)).wait(), here(ranks));
  check.equal(mine.gather(send_buf(r.me), root(0)), r.me == 0 ? ranks : ints{});
  check.equal(mine.scatter<int>(send_buf(ranks)), ints{r.me});
  check.equal(mine.reduce_single(send_buf(1), op(std::plus<>{})).has_value(), mine.is_root());
  int x = r.me;
  mine.bcast(send_recv_buf(x));
  check.equal(x, r.p - 1);
  const communicator copy = mine;
  communicator other = mine.duplicate();
  check.that(copy.default_root() == r.p - 1 && other.default_tag() == 17);
  const graph_communicator around = mine.graph({r.left}, {r.right}).duplicate();
  check.equal(around.default_root(), 0);

  auto sent = mine.isend(send_buf(1), destination(r.right));
  auto [v, how] = mine.recv<int>(status_out());  // the receive still accepts any tag
  check.equal(how.tag(), 17);
  sent.wait();
  sent = mine.isend(send_buf(1), destination(r.right), tag(0));
  mine.recv<int>(tag(0));
  sent.wait();
  auto exchanged = mine.sendrecv(send_buf(2), destination(r.right), status_out());
  check.equal(exchanged.extract_status().tag(), 17);
  check.throws<usage_error>([&] { mine.default_root(r.p); }, {"default_root", "root"});
  check.throws<usage_error>([&] { mine.default_root(-1); }, {"default_root", "root"});
  check.throws<usage_error>([&] { mine.default_tag(-1); }, {"default_tag", "tag"});
  check.that(mine.default_root() == r.p - 1 && mine.default_tag() == 17);
}

// Checks that nothing was sent and that the communicator works.
void is_usable(communicator& comm) {
  comm.barrier();
  check.that(!comm.iprobe());
  check.equal(comm.allreduce(send_buf(1), op(std::plus<>{})), ints{comm.size()});
  comm.barrier();
}

void refused_sends(communicator& comm) {
  const ring r(comm);
  ints v = {1, 2, 3};
  const auto refused = [&](auto&& call, std::initializer_list<const char*> words) {
    check.throws<usage_error>(call, words);
  };
  refused([&] { comm.send(send_buf(v), destination(r.p)); }, {": send", "destination"});
  refused([&] { comm.ssend(send_buf(v), destination(-1)); }, {": ssend", "destination"});
  refused([&] { (void)comm.isend(send_buf(v), destination(rank::any)); }, {": isend", "destination"});
  refused([&] { (void)comm.send_init(send_buf(v), destination(r.p)); }, {": send_init", "destination"});
  refused([&] { comm.bsend(send_buf(v), destination(0), tag(-1)); }, {": bsend", "tag"});
  refused([&] { comm.rsend(send_buf(v), destination(0), tag(tags::any)); }, {": rsend", "tag"});
  refused([&] { comm.send(send_buf(v), destination(0), send_count(4)); }, {": send", "send_count", "4"});
  refused([&] { (void)comm.issend(send_buf(v), destination(0), send_count(-1)); },
          {": issend", "send_count"});
  refused([&] { comm.sendrecv(send_buf(v), destination(r.p), source(0)); }, {": sendrecv", "destination"});
  refused([&] { comm.sendrecv(send_buf(v), destination(0), source(r.p)); }, {": sendrecv", "source"});
  refused([&] { comm.sendrecv(send_recv_buf(v), destination(0), source(-2)); }, {": sendrecv", "source"});
  refused([&] { comm.sendrecv(send_buf(v), destination(0), recv_tag(-7)); }, {": sendrecv", "tag"});
  refused([&] { comm.sendrecv(send_recv_buf(v), destination(0), recv_count(9)); },
          {": sendrecv", "send_recv_buf", "9"});
  refused([&] { comm.sendrecv(send_buf(v), recv_buf(v), destination(0), recv_count(4)); },
          {": sendrecv", "recv_buf", "4"});
  request request_of_it;
  refused([&] { comm.isend(send_buf(v), destination(r.p), request(request_of_it)); },
          {": isend", "destination"});
  check.that(!request_of_it.valid());
  communicator freed = comm.duplicate();
  freed.free();
  refused([&] { freed.send(send_buf(v), destination(0)); }, {": send", "freed"});
  is_usable(comm);
}

void refused_receives(communicator& comm) {
  const ring r(comm);
  const auto refused = [&](auto&& call, std::initializer_list<const char*> words) {
    check.throws<usage_error>(call, words);
  };
  refused([&] { comm.recv<int>(source(r.p)); }, {": recv", "source"});
  refused([&] { (void)comm.irecv<int>(source(-1)); }, {": irecv", "source"});
  refused([&] { comm.recv_single<int>(tag(-2)); }, {": recv_single", "tag"});
  refused([&] { (void)comm.recv_init<int>(source(r.p)); }, {": recv_init", "source"});
  refused([&] { comm.try_recv<int>(source(r.p)); }, {": try_recv", "source"});
  refused([&] { comm.probe(source(r.p)); }, {": probe", "source"});
  refused([&] { (void)comm.iprobe(tag(-2)); }, {": iprobe", "tag"});
  refused([&] { (void)comm.mprobe(source(-9)); }, {": mprobe", "source"});
  refused([&] { (void)comm.improbe(source(-9)); }, {": improbe", "source"});
  refused([&] { comm.recv<int>(recv_count(-3)); }, {": recv", "recv_count", "-3"});
  ints two(2);
  refused([&] { comm.recv(recv_buf(two), recv_count(3)); }, {": recv", "recv_buf", "3"});
  refused([&] { (void)comm.irecv(recv_buf(two), recv_count(3)); }, {": irecv", "recv_buf", "3"});
  status s;
  const status fixed;
  refused([&] { comm.recv(recv_buf(two), status(fixed)); }, {"status", "const"});

  // A buffer that is too small is detected when the message arrives; the message stays in the
  // queue.
  const ints mine = made_by(r.me, 3), theirs = made_by(r.left, 3);
  auto sent = comm.isend(send_buf(mine), destination(r.right), tag(1));
  comm.probe();
  refused([&] { comm.recv(recv_buf(two), source(r.left)); }, {": recv", "recv_buf", "2", "3"});
  refused([&] { comm.try_recv(recv_buf(two), source(r.left)); }, {": try_recv", "recv_buf", "3"});
  refused([&] { comm.recv_single<int>(source(r.left)); }, {": recv_single", "recv_buf", "3"});
  {
    auto coming = comm.irecv(recv_buf(two), source(r.left));
    refused([&] { coming.wait(); }, {": irecv", "recv_buf", "3"});
  }
  {
    message m = comm.mprobe();
    refused([&] { (void)m.irecv(recv_buf(two)); }, {": irecv", "recv_buf", "3"});
    check.throws<mismatch_error>([&] { (void)m.irecv<std::array<char, 5>>(); }, {": irecv", "12 bytes"});
    check.that(m.valid());
  }
  int x = -1;
  refused([&] { comm.recv(recv_buf(x), source(r.left)); }, {": recv", "recv_buf", "3"});
  check.equal(x, -1);
  check.equal(two, ints{0, 0});
  // A message that is no whole number of elements stays in the queue, too.
  using odd = std::array<char, 5>;
  check.throws<mismatch_error>([&] { comm.recv<odd>(source(r.left)); }, {": recv", "12 bytes"});
  check.throws<mismatch_error>([&] { comm.irecv<odd>(source(r.left)).wait(); }, {": irecv"});
  check.throws<mismatch_error>([&] { comm.try_recv<odd>(source(r.left)); }, {": try_recv"});
  check.equal(comm.recv<int>(source(r.left), status_out(s)), theirs);
  refused([&] { (void)s.count<odd>(); }, {"count", "12 bytes"});
  sent.wait();

  // A message longer than the given count is consumed, and nothing is written.
  for (int form = 0; form < 4; ++form) {
    ints none = {-1, -1, -1};
    sent = comm.isend(send_buf(mine), destination(r.right));
    comm.probe(source(r.left));
    check.throws<truncation_error>(
        [&] {
          if (form == 0) comm.recv(recv_buf(none), recv_count(2));
          if (form == 1) comm.irecv(recv_buf(none), recv_count(2)).wait();
          if (form == 2) comm.try_recv(recv_buf(none), recv_count(2));
          if (form == 3) comm.mprobe().recv(recv_buf(none), recv_count(2));
        },
        {"recv", "recv_count", "12", "8"});
    check.equal(none, ints{-1, -1, -1});
    sent.wait();
  }
  sent = comm.isend(send_buf(r.me), destination(r.right));
  check.throws<truncation_error>([&] { comm.sendrecv(send_buf(mine), destination(r.right), recv_count(0)); },
                                 {"sendrecv", "recv_count"});
  check.equal(comm.recv<int>(source(r.left)), theirs);
  sent.wait();
  is_usable(comm);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    const auto run = [&](const char* name, const auto& body) {
      tests::isolated_case(comm, cases, name, body);
    };
    run("exchanges", exchanges);
    run("in_place", in_place);
    run("defaults", defaults);
    run("refused_sends", refused_sends);
    run("refused_receives", refused_receives);
  });
}
