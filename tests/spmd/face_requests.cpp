// SPDX-License-Identifier: Apache-2.0
//
// Requests: of every nonblocking form, waited for one by one and together, given away, dropped, assigned to;
// and persistent messages, which are plans.
#include <array>
#include <list>
#include <numeric>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

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

  // The parameter is no copy: it leaves the request empty or as it is.
  comm.irecv(recv_buf(theirs), request(received), recv_count(4));
  request parameter(received);
  check.that(received.valid() && !parameter.valid());
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

// Every collective takes one.
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

  const int right = (me + 1) % p, left = (me + p - 1) % p;
  const graph_communicator around = comm.graph({left}, {right});
  around.ineighbor_allgather(send_buf(me), recv_buf(got), request(r));
  complete();
  check.equal(got, left);
  around.ineighbor_alltoall(send_buf(me), recv_buf(got), request(r));
  complete();
  check.equal(got, left);
}

void together(communicator& comm) {
  const int p = comm.size(), me = comm.rank();
  ints mine(at(p)), theirs(at(p), -1);
  for (int i = 0; i < p; ++i) mine[at(i)] = 100 * me + i;
  const auto begin = [&](std::vector<request>& requests) {
    theirs.assign(at(p), -1);
    for (int i = 0; i < p; ++i)
      comm.irecv(recv_buf(theirs[at(i)]), source(i), tag(1), request(requests.emplace_back()));
    for (int i = 0; i < p; ++i)
      comm.isend(send_buf(mine[at(i)]), destination(i), tag(1), request(requests.emplace_back()));
  };
  const auto right = [&] {
    for (int i = 0; i < p; ++i) check.equal(theirs[at(i)], 100 * i + me);
  };
  const auto right_statuses = [&](const std::vector<status>& how) {
    check.equal(how.size(), at(2 * p));
    for (int i = 0; i < p; ++i) check.that(how[at(i)].source() == i && how[at(i)].count<int>() == 1);
    for (int i = p; i < 2 * p; ++i) check.equal(how[at(i)].source(), rank::null);
  };
  {
    std::vector<request> requests;
    begin(requests);
    static_assert(std::is_void_v<decltype(wait_all(requests))>);
    wait_all(requests);
    right();
    for (const request& r : requests) check.that(!r.valid());
    wait_all(requests);  // holds none
  }
  {
    std::vector<request> requests;
    begin(requests);
    right_statuses(wait_all(requests, statuses_out()));
    right();
  }
  {
    std::vector<request> requests;
    std::vector<status> how;
    begin(requests);
    check.throws<usage_error>([&] { wait_all(requests, statuses(how)); }, {"wait_all", "statuses", "0"});
    wait_all(requests, statuses<resize_to_fit>(how));
    right_statuses(how);
    begin(requests);  // behind those that are complete
    how.resize(at(4 * p));
    wait_all(requests, statuses_out(how));
    right_statuses({how.begin() + 2 * p, how.end()});
    check.equal(how[0].source(), rank::null);
    right();
  }
  {
    std::vector<request> requests;
    begin(requests);
    while (!test_all(requests)) {
    }
    right();
    requests.clear();
    begin(requests);
    std::optional<std::vector<status>> how;
    while (!(how = test_all(requests, statuses_out()))) {
    }
    right_statuses(*how);
    requests.clear();
    begin(requests);
    while (!test_all(requests, statuses(*how))) {
    }
    right_statuses(*how);
  }
  {
    std::vector<request> requests;
    begin(requests);
    std::vector<bool> seen(at(2 * p));
    status s;
    for (int i = 0; i < 2 * p; ++i) {
      const std::optional<std::size_t> index = wait_any(requests, status(s));
      check.that(index && !seen[*index]);
      seen[*index] = true;
      check.equal(s.source(), *index < at(p) ? static_cast<int>(*index) : rank::null);
    }
    check.that(!wait_any(requests));
    check.that(!test_any(requests));
    right();
    begin(requests);
    int complete = 0;
    while (complete < p) {
      if (const auto some = test_any(requests, status_out())) {
        const auto& [index, how] = *some;
        check.that(index >= at(2 * p));
        complete += how.source() == static_cast<int>(index) - 2 * p;
      }
    }
    wait_all(requests);
    right();
  }
  // Ranges of other kinds, of results without a value.
  std::list<nonblocking_result<void>> results;
  results.push_back(comm.isend(send_buf(ints{me}), destination(me)));
  results.push_back(comm.ibarrier());
  check.equal(comm.recv_single<int>(source(me)), me);
  while (!test_all(results)) {
  }
  std::array<request, 2> two;
  comm.ibarrier(request(two[1]));
  check.equal(*wait_any(two), 1u);
}

// What throws is told once, and the others are waited for.
void failing(communicator& comm) {
  const int me = comm.rank();
  ints a, c(1);
  int b = -1, d = -1;
  std::vector<request> requests(4);
  comm.irecv(recv_buf<resize_to_fit>(a), source(me), tag(1), request(requests[0]));
  comm.irecv(recv_buf(b), recv_count(1), source(me), tag(2), request(requests[1]));  // too long
  comm.irecv(recv_buf(c), source(me), tag(3), request(requests[2]));                 // no room
  comm.irecv(recv_buf(d), source(me), tag(4), request(requests[3]));
  for (int t = 1; t < 4; ++t) comm.bsend(send_buf({t, t}), destination(me), tag(t));
  comm.bsend(send_buf(4), destination(me), tag(4));
  std::vector<status> how(4);
  check.throws<truncation_error>([&] { wait_all(requests, statuses(how)); }, {"irecv", "recv_count"});
  for (const request& r : requests) check.that(!r.valid());
  check.equal(a, ints{1, 1});
  check.equal(b, -1);
  check.equal(d, 4);
  check.equal(how[3].tag(), 4);
  check.equal(comm.recv<int>(tag(3)), ints{3, 3});  // it stayed
  check.that(!comm.iprobe(source(me)));

  comm.irecv(recv_buf(b), recv_count(1), source(me), request(requests[0]));
  comm.irecv(recv_buf(d), source(me), request(requests[1]));
  comm.bsend(send_buf({5, 5}), destination(me));
  comm.bsend(send_buf(6), destination(me));
  check.throws<truncation_error>(
      [&] {
        while (!test_all(requests)) continue;
      },
      {"irecv", "recv_count"});
  wait_all(requests);
  check.equal(d, 6);
  comm.irecv(recv_buf(b), recv_count(1), source(me), request(requests[2]));
  comm.bsend(send_buf({7, 7}), destination(me));
  check.throws<truncation_error>([&] { wait_any(requests); }, {"irecv", "recv_count"});
  check.that(!wait_any(requests));
}

void dropped(communicator& comm) {
  const int p = comm.size(), me = comm.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const int n = 50000;  // more than is copied
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
    // A request that is used again waits for the old call, and so does assignment.
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
  // The buffer that was moved in is kept, and so is that of a receive that is never asked.
  auto coming = comm.irecv<int>(source(left));
  {
    auto kept = comm.issend(send_buf(made_by(me, n)), destination(right));
    auto other = std::move(kept);
    check.equal(coming.wait(), made_by(left, n));
  }
}

// Receives that do not know their length do not block, and get the messages in the order in which they were
// begun.
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
    const auto run = [&](const char* name, void (*body)(communicator&)) {
      cases(name, [&] {
        body(comm);
        comm.barrier();  // what comes from any source is of this case
      });
    };
    run("one_message", one_message);
    run("collectives", collectives_of_all);
    run("together", together);
    run("failing", failing);
    run("dropped", dropped);
    run("in_order", in_order);
    run("persistent", persistent);
  });
}
