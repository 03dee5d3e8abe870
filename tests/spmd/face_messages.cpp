// SPDX-License-Identifier: Apache-2.0
//
// Sends and receives through the face: every mode and form, parameters in any order, counts in and out,
// containers of every kind and their policies, wildcards, try_recv, probes, and what must be refused.
#include <array>
#include <map>
#include <memory>
#include <numeric>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

struct ring {
  int p, me, right, left;
  explicit ring(const communicator& comm)
      : p(comm.size()), me(comm.rank()), right((me + 1) % p), left((me + p - 1) % p) {}
};

// What rank r sends, n elements.
ints made_by(int r, int n) {
  ints v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 1000 * r);
  return v;
}

// Owns its elements and can only be moved.
struct move_only {
  using value_type = int;
  std::unique_ptr<int[]> elements;
  std::size_t length = 0;
  move_only() = default;
  explicit move_only(std::size_t n) : elements(new int[n]()), length(n) {}
  int* data() { return elements.get(); }
  const int* data() const { return elements.get(); }
  std::size_t size() const { return length; }
  void resize(std::size_t n) {
    move_only other(n);
    for (std::size_t i = 0; i < n && i < length; ++i) other.elements[i] = elements[i];
    *this = std::move(other);
  }
};

void parameters(communicator& comm) {
  const ring r(comm);
  const ints mine = made_by(r.me, 5), theirs = made_by(r.left, 5);
  auto sent = comm.isend(send_buf(mine), destination(r.right), tag(3));
  check.equal(comm.recv<int>(tag(3), source(r.left)), theirs);
  sent.wait();

  sent = comm.isend(tag(4), destination(r.right), send_buf(mine));
  {
    auto [v, n, how] = comm.recv<int>(recv_count_out(), source(r.left), status_out());
    check.equal(v, theirs);
    check.equal(n, 5);
    check.equal(how.source(), r.left);
    check.equal(how.tag(), 4);
    check.equal(how.count<int>(), 5u);
    check.equal(how.bytes(), 5 * sizeof(int));
  }
  sent.wait();

  auto part = comm.isend(send_count(2), send_buf(mine), destination(r.right));
  {
    auto result = comm.recv(status_out(), recv_buf<ints>(), recv_count_out<std::size_t>());
    const std::size_t n = result.extract_recv_count();
    const ints v = result.extract_recv_buf();
    check.equal(result.extract_status().tag(), 0);
    check.equal(n, 2u);
    check.equal(v, ints(theirs.begin(), theirs.begin() + 2));
  }
  part.wait();

  auto told = comm.isend(send_buf(mine), destination(r.right), send_count_out());
  {
    status s;
    long n = 0;
    ints v(7, -1);
    comm.recv(recv_buf(v), status(s), recv_count_out(n), source(r.left));
    check.equal(n, 5);
    check.equal(s.count<int>(), 5u);
    check.equal(v, ints{theirs[0], theirs[1], theirs[2], theirs[3], theirs[4], -1, -1});
  }
  check.equal(told.wait().extract_send_count(), 5);
  int n = 0;
  auto written = comm.isend(send_buf(mine), send_count_out(n), destination(r.right));
  check.equal(n, 5);
  status s;
  check.equal(comm.recv<int>(status_out(s)), theirs);
  check.equal(s.source(), r.left);
  written.wait();
}

template <class Send>
void one_mode(communicator& comm, Send&& send) {
  const ring r(comm);
  for (int n : {0, 1, 12, 5000}) {
    const ints mine = made_by(r.me, n);
    auto coming = comm.irecv<int>(source(r.left), tag(n % 100));
    send(mine, r.right, n % 100);
    check.equal(coming.wait(), made_by(r.left, n));
  }
}

void modes(communicator& comm) {
  one_mode(comm, [&](const ints& v, int to, int t) { comm.send(send_buf(v), destination(to), tag(t)); });
  one_mode(comm, [&](const ints& v, int to, int t) { comm.ssend(send_buf(v), destination(to), tag(t)); });
  one_mode(comm, [&](const ints& v, int to, int t) { comm.bsend(send_buf(v), destination(to), tag(t)); });
  one_mode(comm, [&](const ints& v, int to, int t) {
    comm.barrier();  // all receives have begun
    comm.rsend(send_buf(v), destination(to), tag(t));
  });
  for (send_modes m :
       {send_modes::standard, send_modes::synchronous, send_modes::buffered, send_modes::ready})
    one_mode(comm, [&](const ints& v, int to, int t) {
      comm.barrier();
      comm.send(send_mode(m), send_buf(v), destination(to), tag(t));
    });
  one_mode(comm,
           [&](const ints& v, int to, int t) { comm.isend(send_buf(v), destination(to), tag(t)).wait(); });
  one_mode(comm,
           [&](const ints& v, int to, int t) { comm.issend(send_buf(v), destination(to), tag(t)).wait(); });
  one_mode(comm,
           [&](const ints& v, int to, int t) { comm.ibsend(send_buf(v), destination(to), tag(t)).wait(); });
  one_mode(comm, [&](const ints& v, int to, int t) {
    comm.barrier();
    comm.irsend(send_buf(v), destination(to), tag(t)).wait();
  });
  // A buffered send does not wait, and a synchronous one does until the receive has begun.
  const ring r(comm);
  ints large = made_by(r.me, 100000);
  comm.bsend(send_buf(large), destination(r.right), tag(1));
  large.assign(large.size(), -1);
  auto synchronous = comm.issend(send_buf(r.me), destination(r.right), tag(2));
  check.that(!synchronous.test());
  comm.barrier();
  check.equal(comm.recv<int>(tag(1)), made_by(r.left, 100000));
  check.equal(comm.recv_single<int>(tag(2)), r.left);
  synchronous.wait();
}

void containers(communicator& comm) {
  const ring r(comm);
  const auto pass = [&](auto&& buffer, auto&& receive) {
    auto sent = comm.isend(std::forward<decltype(buffer)>(buffer), destination(r.right));
    receive();
    sent.wait();
  };
  const int array[3] = {r.me, 2, 3};
  pass(send_buf(array), [&] {
    int got[4] = {0, 0, 0, -1};
    comm.recv(recv_buf(got));
    check.that(got[0] == r.left && got[2] == 3 && got[3] == -1);
  });
  pass(send_buf({7L, 8L}), [&] {
    std::array<long, 2> got{};
    comm.recv(recv_buf(got));
    check.equal(got, std::array<long, 2>{7, 8});
  });
  pass(send_buf(2.5), [&] { check.equal(comm.recv_single<double>(), 2.5); });
  pass(send_buf(r.me), [&] {
    int x = -1;
    comm.recv(recv_buf(x));
    check.equal(x, r.left);
  });
  const ints v = made_by(r.me, 6);
  pass(send_buf(std::span<const int>(v).subspan(2, 3)), [&] {
    ints got(6);
    comm.recv(recv_buf(std::span<int>(got).subspan(1, 4)));
    check.equal(got[1], 1000 * r.left + 2);
    check.equal(got[4], 0);
  });
  pass(send_buf({true, false, true}), [&] {
    const dynamic_array<bool> got = comm.recv<bool>();
    check.equal(got, dynamic_array<bool>{true, false, true});
  });
  using edge = std::pair<int, std::array<char, 3>>;
  const std::vector<edge> edges = {{r.me, {'a', 'b', 'c'}}, {2, {}}};
  pass(send_buf(edges), [&] {
    const std::vector<edge> got = comm.recv<edge>();
    check.equal(got.size(), 2u);
    check.that(got[0] == edge{r.left, {'a', 'b', 'c'}});
  });
  using triple = std::array<int, 3>;
  pass(send_buf(std::vector<triple>{{1, 2, 3}}), [&] {
    const triple got = comm.recv_single<triple>();
    check.equal(got, triple{1, 2, 3});
  });
  const std::string text = "from rank " + std::to_string(r.me);
  pass(send_buf(text), [&] {
    const std::string got = comm.recv(recv_buf<std::string>());
    check.equal(got, "from rank " + std::to_string(r.left));
  });
  move_only m(4);
  m.data()[3] = r.me;
  pass(send_buf(std::move(m)), [&] {
    const move_only got = comm.recv(recv_buf<resize_to_fit>(move_only(1)));
    check.equal(got.size(), 4u);
    check.equal(got.data()[3], r.left);
  });
  pass(send_buf(ignore<int>), [&] { check.that(comm.recv<int>().empty()); });
  pass(send_buf(ints{}), [&] {
    status s;
    ints got = {1, 2};
    comm.recv(recv_buf(got), status(s));
    check.equal(s.count<int>(), 0u);
    check.equal(got, ints{1, 2});
  });
}

void policies(communicator& comm) {
  const ring r(comm);
  const ints theirs = made_by(r.left, 3);
  const auto pass = [&](auto&& receive) {
    auto sent = comm.isend(send_buf(made_by(r.me, 3)), destination(r.right));
    receive();
    sent.wait();
  };
  pass([&] {
    ints v(5, -1);
    comm.recv(recv_buf<resize_to_fit>(v));
    check.equal(v, theirs);
  });
  pass([&] {
    ints v(1);
    comm.recv(recv_buf_out<grow_only>(v));
    check.equal(v, theirs);
  });
  pass([&] {
    ints v(4, -1);
    comm.recv(recv_buf<grow_only>(v));
    check.equal(v, ints{theirs[0], theirs[1], theirs[2], -1});
  });
  pass([&] {
    ints v(100);
    const int* storage = v.data();
    v = comm.recv(recv_buf<resize_to_fit>(std::move(v)));
    check.equal(v, theirs);
    check.that(v.data() == storage);
  });
  pass([&] {
    ints v(4, -1);
    v = comm.recv(recv_buf(std::move(v)));  // no_resize
    check.equal(v, ints{theirs[0], theirs[1], theirs[2], -1});
  });
  pass([&] { check.equal(comm.recv(recv_buf(alloc_container_of<int>)), theirs); });
  // A count says how much there may be; what is returned is as long as what came.
  pass([&] { check.equal(comm.recv<int>(recv_count(10)), theirs); });
  pass([&] { check.equal(comm.recv<int>(recv_count(3)), theirs); });
  pass([&] {
    ints v(2);
    comm.recv(recv_buf<grow_only>(v), recv_count(4));
    check.equal(v, ints{theirs[0], theirs[1], theirs[2], 0});
  });
  pass([&] {
    ints v;
    status s;
    comm.recv(recv_count(8), status(s), recv_buf<resize_to_fit>(v));
    check.equal(v, theirs);
    check.equal(s.count<int>(), 3u);
  });
}

void wildcards(communicator& comm) {
  // Everybody to everybody: messages of one sender keep their order, whoever comes first.
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

void looking(communicator& comm) {
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

  // A loop of try_recv, while the peers are late as they like.
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

void found(communicator& comm) {
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
    const message second = comm.mprobe();  // is put back at the end of this block
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

void nobody(communicator& comm) {
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
  // A line of ranks without ends.
  const int me = comm.rank(), p = comm.size();
  const ints got = comm.sendrecv(send_buf(me), destination(me + 1 < p ? me + 1 : rank::null),
                                 source(me > 0 ? me - 1 : rank::null));
  check.equal(got, me > 0 ? ints{me - 1} : ints{});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    const auto run = [&](const char* name, void (*body)(communicator&)) {
      cases(name, [&] {
        body(comm);
        comm.barrier();  // what comes from any source is of this case
      });
    };
    run("parameters", parameters);
    run("modes", modes);
    run("containers", containers);
    run("policies", policies);
    run("wildcards", wildcards);
    run("looking", looking);
    run("found", found);
    run("nobody", nobody);
  });
}
