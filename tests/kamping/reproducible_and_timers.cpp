// SPDX-License-Identifier: Apache-2.0
//
// Tests the plugin for reproducible reductions, and the output of timers and counters.
#include <sstream>

#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

std::vector<double> array() {
  std::vector<double> v(1000);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = 1.0 / static_cast<double>(i + 1) * (i % 3 == 0 ? -1e5 : 1);
  return v;
}

// The reduction tree over the whole array. The length of the left half is the largest power of two
// below the length.
double tree(const double* v, std::size_t n) {
  if (n == 1) return v[0];
  std::size_t half = 1;
  while (2 * half < n) half *= 2;
  return tree(v, half) + tree(v + half, n - half);
}

void reproducible(bool backwards) {
  const Communicator<std::vector, plugin::ReproducibleReducePlugin> comm;
  const auto all = array();
  const int p = comm.size_signed();
  std::vector<int> counts, displs;
  for (int r = 0; r < p; ++r) {
    const int place = backwards ? p - 1 - r : r;
    const int begin = 1000 * place / p, end = 1000 * (place + 1) / p;
    displs.push_back(begin);
    counts.push_back(end - begin);
  }
  const auto first = all.begin() + displs[comm.rank()];
  const std::vector<double> mine(first, first + counts[comm.rank()]);
  const auto repr = comm.make_reproducible_comm<double>(send_counts(counts), recv_displs(displs));
  check.equal(repr.reproducible_reduce(send_buf(mine), op(ops::plus<>{})), tree(all.data(), all.size()));
}

void timers(const Communicator<>& comm) {
  auto& timer = measurements::timer();
  timer.synchronize_and_start("outer");
  for (int i = 0; i < 3; ++i) {
    timer.start("inner");
    comm.barrier();
    timer.stop_and_append(
        {measurements::GlobalAggregationMode::max, measurements::GlobalAggregationMode::min});
  }
  timer.stop();
  measurements::counter().add("messages", 2 * comm.rank(), {measurements::GlobalAggregationMode::gather});

  std::ostringstream json, flat, counted;
  timer.aggregate_and_print(measurements::SimpleJsonPrinter{json, {{"name", "a \"b\""}}});
  timer.aggregate_and_print(measurements::FlatPrinter{flat});
  const auto all = timer.aggregate();
  check.that(all.find({"outer", "inner"}) != nullptr && all.find({"outer", "inner"})->calls.max == 3);
  check.equal(all.find({"outer", "inner"})->each.size(), std::size_t{3});
  measurements::counter().aggregate_and_print(measurements::FlatPrinter(counted));
  check.equal(json.str().empty(), !comm.is_root());
  if (comm.is_root()) {
    check.that(json.str().find("\"name\": \"a \\\"b\\\"\"") != std::string::npos, json.str());
    check.that(json.str().find("inner") != std::string::npos);
    check.that(flat.str().find("outer.inner.max=") != std::string::npos, flat.str());
    const int p = comm.size_signed();
    check.that(counted.str().find("messages.sum=" + std::to_string(p * (p - 1))) != std::string::npos);
    check.that(counted.str().find("messages." + std::to_string(p - 1) + "=" + std::to_string(2 * (p - 1))) !=
                   std::string::npos,
               counted.str());
  }
  timer.clear();
  check.that(timer.aggregate().entries().empty());
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    reproducible(false);
    reproducible(true);
    Communicator comm;
    timers(comm);
  });
}
