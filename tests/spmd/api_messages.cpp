// SPDX-License-Identifier: Apache-2.0
//
// Tests sends and receives through the public API: every mode and form, parameters in any order,
// counts as input and output, containers of every kind with their policies.
#include <array>
#include <memory>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/ring_messages.hpp"

using namespace tutti;
using tests::check;
using tests::made_by;
using tests::ring;

namespace {

using ints = std::vector<int>;

// Owns its elements and is move-only.
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

  auto counted = comm.isend(send_buf(mine), destination(r.right), send_count_out());
  {
    status s;
    long n = 0;
    ints v(7, -1);
    comm.recv(recv_buf(v), status(s), recv_count_out(n), source(r.left));
    check.equal(n, 5);
    check.equal(s.count<int>(), 5u);
    check.equal(v, ints{theirs[0], theirs[1], theirs[2], theirs[3], theirs[4], -1, -1});
  }
  check.equal(counted.wait().extract_send_count(), 5);
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
  // A buffered send does not wait. A synchronous send waits until the receive has begun.
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
  // The count is a maximum; the returned container is as long as the message.
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

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    const auto run = [&](const char* name, const auto& body) {
      tests::isolated_case(comm, cases, name, body);
    };
    run("parameters", parameters);
    run("modes", modes);
    run("containers", containers);
    run("policies", policies);
  });
}
