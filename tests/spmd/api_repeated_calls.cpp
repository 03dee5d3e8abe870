// SPDX-License-Identifier: Apache-2.0
//
// Tests repeated calls, most of them vector forms with all counts given. Some calls change only the
// counts in the same containers, the displacements, lengths, roots or buffers. Others must be
// rejected after a right call.
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/program.hpp"

using namespace tutti;
using tests::check;

namespace {

using ints = std::vector<int>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }
int value(int step, int from, int to, int i) { return ((step * 100 + from) * 100 + to) * 100 + i; }

// Returns the displacements of blocks of these lengths, with a gap before each.
ints displs_with_gap(const ints& counts, int gap) {
  ints displs;
  int end = 0;
  for (int n : counts) {
    displs.push_back(end + gap);
    end += gap + n;
  }
  return displs;
}
std::size_t end_of(const ints& counts, const ints& displs) {
  int end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) end = std::max(end, displs[i] + counts[i]);
  return static_cast<std::size_t>(end);
}

// All ranks draw the same lengths[from][to] from the seed. Most steps leave the lengths unchanged.
class plan_of_steps {
 public:
  plan_of_steps(int p, unsigned seed) : random_(seed), lengths(at(p), ints(at(p), 1)) {}
  void next() {
    if (random_() % 3 != 0) return;
    for (ints& row : lengths)
      for (int& n : row) n = static_cast<int>(random_() % 4);
    gap = static_cast<int>(random_() % 3);
    root = static_cast<int>(random_() % lengths.size());
  }

 private:
  std::mt19937 random_;

 public:
  std::vector<ints> lengths;
  int gap = 0, root = 0;
};

void alltoallv(const communicator& world, unsigned seed) {
  const int p = world.size(), me = world.rank();
  plan_of_steps plan(p, seed);
  // All steps use the same containers.
  ints sent(at(p)), received(at(p)), sent_displs, received_displs;
  ints in, out;
  for (int step = 0; step < 40; ++step) {
    plan.next();
    for (int r = 0; r < p; ++r)
      sent[at(r)] = plan.lengths[at(me)][at(r)], received[at(r)] = plan.lengths[at(r)][at(me)];
    sent_displs = displs_with_gap(sent, plan.gap), received_displs = displs_with_gap(received, 2 - plan.gap);
    in.assign(end_of(sent, sent_displs), -1);
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < sent[at(r)]; ++i) in[at(sent_displs[at(r)] + i)] = value(step, me, r, i);
    out.assign(end_of(received, received_displs) + 1, -7);
    ints expected = out;
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < received[at(r)]; ++i)
        expected[at(received_displs[at(r)] + i)] = value(step, r, me, i);
    world.alltoallv(send_buf(in), send_counts(sent), send_displs(sent_displs), recv_buf(out),
                    recv_counts(received), recv_displs(received_displs));
    check.equal(out, expected);
    // Contiguous blocks with the same counts.
    ints dense(at(std::accumulate(received.begin(), received.end(), 0))), wanted;
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < received[at(r)]; ++i) wanted.push_back(value(step, r, me, i));
    world.alltoallv(send_buf(in), send_counts(sent), send_displs(sent_displs), recv_buf(dense),
                    recv_counts(received));
    check.equal(dense, wanted);
  }
}

void gathers(const communicator& world, unsigned seed) {
  const int p = world.size(), me = world.rank();
  plan_of_steps plan(p, seed);
  ints counts(at(p)), displs, in, out;
  for (int step = 0; step < 40; ++step) {
    plan.next();
    for (int r = 0; r < p; ++r) counts[at(r)] = plan.lengths[at(r)][0];
    displs = displs_with_gap(counts, plan.gap);
    in.resize(at(counts[at(me)]));
    for (int i = 0; i < counts[at(me)]; ++i) in[at(i)] = value(step, me, 0, i);
    out.assign(end_of(counts, displs) + 1, -7);
    const ints untouched = out;
    ints expected = out;
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < counts[at(r)]; ++i) expected[at(displs[at(r)] + i)] = value(step, r, 0, i);
    world.allgatherv(send_buf(in), recv_buf(out), recv_counts(counts), recv_displs(displs));
    check.equal(out, expected);
    out = untouched;
    world.gatherv(send_buf(in), recv_buf(out), recv_counts(counts), recv_displs(displs), root(plan.root));
    check.equal(out, me == plan.root ? expected : untouched);
    // And back, from the root.
    ints mine(at(counts[at(me)]), -1);
    world.scatterv(send_buf(expected), send_counts(counts), send_displs(displs), recv_buf(mine),
                   recv_count(counts[at(me)]), root(plan.root));
    check.equal(mine, in);
  }
}

// A wrong call is rejected even after a right one, and the next right call runs.
void usage_errors(const communicator& world) {
  const int p = world.size(), me = world.rank();
  ints in(at(p), me), out(at(p)), ones(at(p), 1), places(at(p));
  std::iota(places.begin(), places.end(), 0);
  const auto call = [&] {
    world.alltoallv(send_buf(in), send_counts(ones), send_displs(places), recv_buf(out), recv_counts(ones),
                    recv_displs(places));
  };
  const auto right = [&] {
    std::fill(out.begin(), out.end(), -1);
    call();
    for (int r = 0; r < p; ++r) check.equal(out[at(r)], r);
  };
  right();
  right();
  ones[0] = -1;
  check.throws<usage_error>(call, {"alltoallv", "send_counts"});
  ones[0] = 1;
  right();
  places.back() = -3;
  check.throws<usage_error>(call, {"alltoallv", "displs"});
  places.back() = p - 1;
  right();
  places.back() = p;
  check.throws<usage_error>(call, {"alltoallv"});
  places.back() = p - 1;
  right();
  out.resize(at(p) - 1);
  check.throws<usage_error>(call, {"alltoallv", "recv_buf"});
  out.resize(at(p));
  right();
  in.resize(at(p) - 1);
  check.throws<usage_error>(call, {"alltoallv", "send"});
  in.resize(at(p), me);
  right();
  ones.pop_back();
  check.throws<usage_error>(call, {"alltoallv", "counts"});
  ones.push_back(1);
  right();
  communicator copy = world.duplicate();
  const auto gather = [&] {
    copy.allgatherv(send_buf(me), recv_buf(out), recv_counts(ones), recv_displs(places));
  };
  gather();
  gather();
  for (int r = 0; r < p; ++r) check.equal(out[at(r)], r);
  copy.free();
  check.throws<usage_error>(gather, {"allgatherv", "freed"});
}

// The same for a call with one count: null buffers, and one buffer in place of two.
void usage_errors_of_one_count(const communicator& world) {
  const int p = world.size(), me = world.rank();
  int mine = me + 1, sum = -1;
  const auto call = [&](const int* in, int* out) {
    world.allreduce(send_buf(std::span<const int>(in, 1)), recv_buf(std::span<int>(out, 1)),
                    op(std::plus<>{}));
  };
  const auto right = [&] {
    for (int i = 0; i < 2; ++i) {
      sum = -1;
      call(&mine, &sum);
      check.equal(sum, p * (p + 1) / 2);
    }
  };
  right();
  check.throws<usage_error>([&] { call(nullptr, &sum); }, {"allreduce", "send_buf", "null"});
  right();
  check.throws<usage_error>([&] { call(&mine, nullptr); }, {"allreduce", "recv_buf", "null"});
  right();
  check.throws<usage_error>([&] { call(&sum, &sum); }, {"allreduce"});
  right();
}

// Calls in progress; a blocking call progresses them.
void beside_nonblocking(const communicator& world) {
  const int p = world.size(), me = world.rank();
  ints ones(at(p), 1), places(at(p)), out(at(p));
  std::iota(places.begin(), places.end(), 0);
  for (int i = 0; i < 10; ++i) {
    auto under_way = world.iallgatherv(send_buf(me + i), recv_counts(ones));
    world.allgatherv(send_buf(me), recv_buf(out), recv_counts(ones), recv_displs(places));
    world.allgatherv(send_buf(me), recv_buf(out), recv_counts(ones), recv_displs(places));
    for (int r = 0; r < p; ++r) check.equal(out[at(r)], r);
    const ints later = under_way.wait();
    for (int r = 0; r < p; ++r) check.equal(later[at(r)], r + i);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      cases("alltoallv/seed_" + std::to_string(seed), [&] { alltoallv(world, seed); });
      cases("gathers/seed_" + std::to_string(seed), [&] { gathers(world, seed); });
    }
    cases("usage_errors", [&] { usage_errors(world); });
    cases("usage_errors_of_one_count", [&] { usage_errors_of_one_count(world); });
    cases("beside_nonblocking", [&] { beside_nonblocking(world); });
  });
}
