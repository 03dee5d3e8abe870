// SPDX-License-Identifier: Apache-2.0
//
// Tests requests of every nonblocking form: moved, destroyed, assigned to. Also tests persistent
// messages.
#include <functional>
#include <numeric>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/ring_messages.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

ints made_by(int r, int n) {
  ints v(at(n));
  std::iota(v.begin(), v.end(), 1000 * r);
  return v;
}

void one_message(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const ints mine = made_by(me, 4);
  ints theirs;
  request sent, received;
  check.that(!sent.valid());
  comm.irecv(recv_buf<resize_to_fit>(theirs), request(received), source(left));
  static_assert(std::is_void_v<decltype(comm.isend(send_buf(mine), destination(right), request(sent)))>);
  comm.isend(request(sent), send_buf(mine), destination(right), tag(6));
  check.that(sent.valid() && received.valid());
  const status s = received.wait();
  check.equal(theirs, made_by(left, 4));
  check.that(s.source() == left && s.tag() == 6 && s.count<int>() == 4u);
  const status nobody = sent.wait();
  check.that(nobody.source() == rank::null && nobody.tag() == tags::any && nobody.bytes() == 0);
  check.that(!sent.valid() && !received.valid());
  check.throws<usage_error>([&] { (void)sent.wait(); }, {"wait", "holds no call"});
  check.throws<usage_error>([&] { (void)sent.test(); }, {"test", "holds no call"});
  request no_copy(sent);
  check.throws<usage_error>([&] { (void)no_copy.wait(); }, {"wait", "from another one"});
  check.throws<usage_error>([&] { (void)no_copy.test(); }, {"test", "from another one"});
  check.throws<usage_error>([&] { (void)no_copy.valid(); }, {"valid", "from another one"});

  // A status is copied, whatever happens to the other one later.
  status received_status = s;
  status copied(received_status);
  received_status = status();
  check.that(copied == s && copied.tag() == 6 && !(copied == received_status));
  std::vector<status> statuses_of_calls;
  for (int i = 0; i < 3; ++i) {
    status one = s;
    statuses_of_calls.emplace_back(one);
    one = status();
  }
  for (const status& each : statuses_of_calls) check.that(each == s);
  const status of_copy(copied);
  check.that(of_copy == s);

  // The parameter moves the request: the source is empty afterwards.
  comm.irecv(recv_buf(theirs), request(received), recv_count(4));
  request parameter(received);
  check.that(received.valid());
  check.throws<usage_error>([&] { (void)parameter.valid(); }, {"valid", "from another one"});
  request moved = std::move(received);
  check.that(!received.valid() && moved.valid());
  check.throws<usage_error>([&] { comm.irecv(recv_buf(theirs), request(request())); }, {"request"});
  comm.issend(send_buf(mine), destination(right), request(sent), tag(2));
  std::optional<status> how;
  while (!(how = moved.test())) {
  }
  check.equal(how->tag(), 2);
  check.equal(theirs, made_by(left, 4));
  sent.wait();

  int n = 0;
  status written;
  comm.irecv(recv_buf(theirs), request(received), recv_count_out(n), status(written));
  comm.isend(send_buf(mine), destination(right), send_count(3), request(sent));
  received.wait();
  sent.wait();
  check.equal(n, 3);
  check.equal(written.count<int>(), 3u);
}

// An element that was constructed from a request refers to it and holds no call. No function may
// treat it as a complete call, also after the vector has moved its elements.
void constructed_from_another(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  int theirs = -1, more = -1;
  request received, also_received;
  comm.irecv(recv_buf(theirs), source(left), request(received));
  comm.irecv(recv_buf(more), source(left), request(also_received));
  std::vector<request> v;
  v.emplace_back(received);
  v.emplace_back(also_received);
  v.emplace_back();
  const char* why = "from another one";
  check.throws<usage_error>([&] { wait_all(v); }, {"wait_all", why});
  check.throws<usage_error>([&] { (void)wait_all(v, statuses_out()); }, {"wait_all", why});
  check.throws<usage_error>([&] { (void)test_all(v); }, {"test_all", why});
  check.throws<usage_error>([&] { (void)wait_any(v); }, {"wait_any", why});
  check.throws<usage_error>([&] { (void)test_any(v, status_out()); }, {"test_any", why});
  check.throws<usage_error>([&] { v[0].wait(); }, {"wait", why});
  std::vector<std::reference_wrapper<request>> references(v.begin(), v.end());
  check.throws<usage_error>([&] { wait_all(references); }, {"wait_all", why});
  const request assigned = [&] {
    request other;
    other = std::move(v[1]);
    return other;
  }();
  check.throws<usage_error>([&] { (void)assigned.valid(); }, {"valid", why});
  check.that(received.valid() && also_received.valid());

  // A call that receives such an element makes it a request.
  comm.isend(send_buf(me), destination(right), request(v[0]));
  check.that(v[0].valid() && !v[1].valid());
  v[1] = std::move(received);
  v[2] = std::move(also_received);
  comm.send(send_buf(me + 1), destination(right));
  wait_all(v);
  check.that(theirs == left && more == left + 1);
}

// Every collective accepts a request.
void collectives_of_all(communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  const auto n = at(p);
  const ints own = {me, 1}, one = {me};
  const int total = p * (p - 1) / 2;
  request r;
  const auto complete = [&] {
    const status s = r.wait();
    check.equal(s.source(), rank::null);
    check.that(!r.valid());
  };
  ints ranks(n), v(2);
  std::iota(ranks.begin(), ranks.end(), 0);

  comm.ibarrier(request(r));
  complete();
  v = comm.is_root() ? ints{5, 6} : ints{0, 0};
  comm.ibcast(send_recv_buf(v), request(r));
  complete();
  check.equal(v, ints{5, 6});
  int x = me == 0 ? 9 : 0;
  comm.ibcast_single(send_recv_buf(x), request(r));
  complete();
  check.equal(x, 9);
  v = {-1, -1};
  comm.ireduce(send_buf(own), op(std::plus<>{}), recv_buf(v), request(r), root(p - 1));
  complete();
  check.equal(v, me == p - 1 ? ints{total, p} : ints{-1, -1});
  comm.iallreduce(send_buf(own), op(std::plus<>{}), recv_buf(v), request(r));
  complete();
  check.equal(v, ints{total, p});
  v = own;
  comm.iallreduce(request(r), send_recv_buf(v), op(ops::max<>{}));
  complete();
  check.equal(v, ints{p - 1, 1});
  comm.iscan(send_buf(own), op(std::plus<>{}), recv_buf(v), request(r));
  complete();
  check.equal(v, ints{me * (me + 1) / 2, me + 1});
  comm.iexscan(send_buf(own), op(std::plus<>{}), recv_buf(v), request(r));
  complete();
  check.equal(v, ints{me * (me - 1) / 2, me});

  ints all(n, -1);
  comm.igather(send_buf(one), recv_buf(all), request(r));
  complete();
  check.equal(all, me == 0 ? ranks : ints(n, -1));
  comm.iallgather(send_buf(one), recv_buf(all), request(r));
  complete();
  check.equal(all, ranks);
  int got = -1;
  comm.iscatter(send_buf(ranks), recv_buf(got), request(r));
  complete();
  check.equal(got, me);
  const ints sevens(n, 7 + me);
  comm.ialltoall(send_buf(sevens), recv_buf(all), request(r));
  complete();
  for (int i = 0; i < p; ++i) check.equal(all[at(i)], 7 + i);

  const ints ones(n, 1);
  ints counts(n);
  all.assign(n, -1);
  comm.igatherv(send_buf(one), recv_buf(all), request(r), recv_counts_out(counts));
  complete();
  check.equal(all, me == 0 ? ranks : ints(n, -1));
  comm.iallgatherv(send_buf(one), recv_buf(all), request(r));
  complete();
  check.equal(all, ranks);
  got = -1;
  comm.iscatterv(send_buf(ranks), send_counts(ones), recv_buf(got), request(r));
  complete();
  check.equal(got, me);
  comm.ialltoallv(send_buf(sevens), send_counts(ones), recv_buf(all), request(r));
  complete();
  for (int i = 0; i < p; ++i) check.equal(all[at(i)], 7 + i);
  comm.ireduce_scatter(send_buf(ranks), op(std::plus<>{}), recv_counts(ones), recv_buf(got), request(r));
  complete();
  check.equal(got, p * me);
  comm.ireduce_scatter_block(send_buf(sevens), op(std::plus<>{}), recv_buf(got), request(r));
  complete();
  check.equal(got, 7 * p + total);

  // Calls with parameters that other libraries lack.
  ints displs(n);
  for (int i = 0; i < p; ++i) displs[at(i)] = i * static_cast<int>(sizeof(int));
  const std::vector<layout> types(n, layout::contiguous(sizeof(int)));
  all.assign(n, -1);
  comm.ialltoallw(send_buf(sevens), send_counts(ones), send_displs(displs), send_types(types), recv_buf(all),
                  recv_counts(ones), recv_displs(displs), recv_types(types), algorithm("scattered"),
                  composition("@pure"), request(r));
  complete();
  for (int i = 0; i < p; ++i) check.equal(all[at(i)], 7 + i);

  const int right = (me + 1) % p, left = (me + p - 1) % p;
  const graph_communicator around = comm.graph({left}, {right});
  around.ineighbor_allgather(send_buf(me), recv_buf(got), request(r));
  complete();
  check.equal(got, left);
  around.ineighbor_alltoall(send_buf(me), recv_buf(got), request(r));
  complete();
  check.equal(got, left);
}

void dropped(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const int n = 50000;  // longer than messages that are copied
  {
    ints theirs(at(n), -1), large = made_by(me, n);
    {
      auto coming = comm.irecv(recv_buf(theirs), source(left));
      auto going = comm.isend(send_buf(std::move(large)), destination(right));
      check.that(coming.valid() && going.valid());
    }
    check.equal(theirs, made_by(left, n));
  }
  {
    ints theirs(at(n), -1);
    const ints mine = made_by(me, n);
    {
      std::vector<request> requests(2);
      comm.irecv(recv_buf(theirs), source(left), request(requests[0]));
      comm.isend(send_buf(mine), destination(right), request(requests[1]));
    }
    check.equal(theirs, made_by(left, n));
  }
  {
    // Reusing a request waits for its previous call, and so does assignment.
    ints first(at(n), -1), second(at(n), -1);
    const ints mine = made_by(me, n);
    auto one = comm.isend(send_buf(mine), destination(right)),
         two = comm.isend(send_buf(mine), destination(right));
    request r;
    comm.irecv(recv_buf(first), source(left), request(r));
    comm.irecv(recv_buf(second), source(left), request(r));
    check.equal(first, made_by(left, n));
    r = request();
    check.equal(second, made_by(left, n));
    one = std::move(two);
    check.that(one.valid() && !two.valid());
    one.wait();
  }
  // The request keeps a buffer that was moved in, also for a receive whose result is never read.
  auto coming = comm.irecv<int>(source(left));
  {
    auto kept = comm.issend(send_buf(made_by(me, n)), destination(right));
    auto other = std::move(kept);
    check.equal(coming.wait(), made_by(left, n));
  }
}

// Receives without a known length do not block. They match messages in the order in which they
// began.
void in_order(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  std::vector<nonblocking_result<ints>> coming;
  for (int i = 0; i < 6; ++i)
    coming.push_back(i % 2 == 0 ? comm.irecv<int>() : comm.irecv<int>(source(left)));
  check.that(!coming[0].test());
  comm.barrier();
  for (int i = 0; i < 6; ++i) comm.send(send_buf(made_by(me, 5 - i)), destination(right), tag(i));
  for (int i = 5; i >= 0; --i) check.equal(coming[at(i)].wait(), made_by(left, 5 - i));
  comm.barrier();
  auto single = comm.irecv_single<double>(source(left), status_out());
  auto sent = comm.isend(send_buf(me + 0.5), destination(right), tag(3));
  auto result = single.wait();
  check.equal(result.extract_status().tag(), 3);
  check.equal(result.extract_recv_buf(), left + 0.5);
  sent.wait();
  auto maybe = comm.irecv<int>(source(left));
  std::optional<ints> got;
  sent = comm.isend(send_buf(ints{me}), destination(right));
  while (!(got = maybe.test())) {
  }
  check.equal(*got, ints{left});
  check.that(!maybe.valid());
  check.throws<usage_error>([&] { (void)maybe.wait(); }, {"holds no call"});
  while (!sent.test()) {
  }
}

void persistent(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  ints mine(3), theirs(3);
  auto sends = comm.send_init(send_buf(mine), destination(right), tag(4));
  auto receives = comm.recv_init(recv_buf(theirs), source(left), status_out());
  for (int i = 0; i < 4; ++i) {
    mine = {me, i, i * i};
    receives.start();
    sends.start();
    auto how = receives.wait();
    sends.wait();
    check.equal(how.extract_status().tag(), 4);
    check.equal(theirs, ints{left, i, i * i});
  }
  auto any_length = comm.recv_init<int>(source(left));
  auto at_most = comm.recv_init<int>(source(left), recv_count(4), tag(9), status_out());
  auto one = comm.recv_single_init<int>(tag(8));
  for (int i = 0; i < 4; ++i) {
    auto sent = comm.isend(send_buf(made_by(me, i)), destination(right));
    any_length.start();
    const ints& got = any_length.wait();
    check.equal(got, made_by(left, i));
    sent.wait();
    at_most.start();
    sent = comm.isend(send_buf(made_by(me, i)), destination(right), tag(9));
    auto result = at_most.wait();
    check.equal(result.extract_status().count<int>(), at(i));
    check.that(result.get<0>().size() == 4 && (i == 0 || result.get<0>()[at(i - 1)] == 1000 * left + i - 1));
    sent.wait();
    one.start();
    comm.bsend(send_buf(i), destination(right), tag(8));
    check.equal(one.wait(), i);
  }
  auto synchronous = comm.ssend_init(send_buf(mine), destination(right));
  auto buffered = comm.bsend_init(send_buf(mine), destination(right));
  auto ready = comm.rsend_init(send_buf(mine), destination(right));
  for (int i = 0; i < 2; ++i) {
    mine = {me, i, 0};
    auto coming = comm.irecv<int>(source(left)), more = comm.irecv<int>(source(left)),
         last = comm.irecv<int>(source(left));
    comm.barrier();
    synchronous.start();
    buffered.start();
    ready.start();
    for (auto* received : {&coming, &more, &last}) check.equal(received->wait(), ints{left, i, 0});
    synchronous.wait();
    buffered.wait();
    ready.wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    const auto run = [&](const char* name, const auto& body) {
      tests::isolated_case(comm, cases, name, body);
    };
    run("one_message", one_message);
    run("constructed_from_another", constructed_from_another);
    run("collectives", collectives_of_all);
    run("dropped", dropped);
    run("in_order", in_order);
    run("persistent", persistent);
  });
}
