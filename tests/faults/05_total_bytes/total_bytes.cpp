// SPDX-License-Identifier: Apache-2.0
//
// Tests a tree that tests total_bytes for allgatherv and reduce_scatter: every form of the call
// must take the step of its counts. The numbers of ranks are 2 to 5, and the tree is
// by_total_bytes.json.
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;

namespace {

std::vector<int> unequal(int ranks, int total) {  // with this sum
  std::vector<int> counts(static_cast<std::size_t>(ranks), 0);
  counts.back() = total - total / 3;
  counts.front() += total / 3;
  return counts;
}

struct expected {
  int doubles;
  const char *allgatherv, *reduce_scatter;
};
constexpr expected all[] = {{9, "allgatherv/bruck", "reduce_scatter/ring"},
                            {125, "allgatherv/bruck", "reduce_scatter/ring"},
                            {126, "allgatherv/circulant", "reduce_scatter/pairwise"},
                            {625, "allgatherv/circulant", "reduce_scatter/pairwise"},
                            {626, "allgatherv/ring", "reduce_scatter/pairwise"},
                            {20000, "allgatherv/ring", "reduce_scatter/pairwise"}};

void gather(communicator& world, const expected& e, bool with_counts) {
  const std::vector<int> counts = unequal(world.size(), e.doubles);
  const auto mine = static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]);
  const std::vector<double> part(mine, world.rank() + 1.0);
  const std::vector<double> whole =
      with_counts ? world.allgatherv(send_buf(part), recv_counts(counts)) : world.allgatherv(send_buf(part));
  tests::check.that(whole.size() == static_cast<std::size_t>(e.doubles), "the length of the result");
  tests::check.that(
      whole.front() == (counts.front() > 0 ? 1.0 : world.size()) && whole.back() == world.size(),
      "the blocks in order");
  const std::string ran = world.last_algorithm(collective::allgatherv);
  tests::check.that(ran == e.allgatherv, std::to_string(e.doubles) + " doubles in all ran " + ran);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& t) {
    for (const bool with_counts : {true, false})
      t(with_counts ? "allgatherv/counts" : "allgatherv/inferred", [&] {
        for (int repetition = 0; repetition < 2; ++repetition)
          for (const expected& e : all)
            for (int i = 0; i < 3; ++i) gather(world, e, with_counts);
      });
    t("allgatherv/nonblocking", [&] {
      for (const expected& e : all) {
        const std::vector<int> counts = unequal(world.size(), e.doubles);
        const std::vector<double> part(
            static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]), 1.0);
        auto pending = world.iallgatherv(send_buf(part), recv_counts(counts));
        tests::check.that(pending.wait().size() == static_cast<std::size_t>(e.doubles), "the length");
        tests::check.that(std::string(world.last_algorithm(collective::allgatherv)) == e.allgatherv,
                          "the step of a nonblocking call");
      }
    });
    t("reduce_scatter", [&] {
      for (const expected& e : all) {
        const std::vector<int> counts = unequal(world.size(), e.doubles);
        const std::vector<double> given(static_cast<std::size_t>(e.doubles), 1.0);
        const std::vector<double> sum =
            world.reduce_scatter(send_buf(given), recv_counts(counts), op(std::plus<>{}));
        for (const double x : sum) tests::check.that(x == world.size(), "the sum");
        const std::string ran = world.last_algorithm(collective::reduce_scatter);
        tests::check.that(ran == e.reduce_scatter, std::to_string(e.doubles) + " doubles ran " + ran);
      }
    });
  });
}
