// SPDX-License-Identifier: Apache-2.0
//
// Tests several requests at once: wait_all, test_all, wait_any and test_any, and their statuses. If
// one request throws, the others must still complete.
#include <array>
#include <list>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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
    wait_all(requests);  // all requests are empty
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
    begin(requests);  // after the completed ones
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
  // Other kinds of ranges, with results without a value.
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

// A request that fails throws once, and the call waits for the others.
void failing(communicator& comm) {
  const int me = comm.rank();
  ints a, c(1);
  int b = -1, d = -1;
  std::vector<request> requests(4);
  comm.irecv(recv_buf<resize_to_fit>(a), source(me), tag(1), request(requests[0]));
  // The message is too long.
  comm.irecv(recv_buf(b), recv_count(1), source(me), tag(2), request(requests[1]));
  comm.irecv(recv_buf(c), source(me), tag(3), request(requests[2]));  // buffer too small
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
  check.equal(comm.recv<int>(tag(3)), ints{3, 3});  // the message stayed in the queue
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

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& comm, tests::cases& cases) {
    cases("together", [&] { together(comm); });
    cases("failing", [&] { failing(comm); });
  });
}
