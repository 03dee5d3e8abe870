// SPDX-License-Identifier: Apache-2.0
//
// Tests the demo's sample sort against std::sort: few words, equal, skewed, sorted and reversed
// words. No rank may get much more than its share, even if one word fills everything.
#include <random>

#include "../../examples/sort/sample_sort.hpp"
#include "../../examples/sort/serial_sort.hpp"
#include "support/check.hpp"
#include "support/program.hpp"

using tests::check;

namespace {

std::vector<sort::string_array> inputs(std::uint64_t seed) {
  std::vector<sort::string_array> all(8);
  all[1].push_back("one");
  for (int i = 0; i < 5000; ++i) all[2].push_back("the");
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int i = 0; i < 5000; ++i) {
    const auto number = random();
    // Some words are empty.
    all[3].push_back(std::string(number % 40, static_cast<char>('a' + number / 64 % 26)));
    all[4].push_back(number % 10 < 7 ? "of" : std::to_string(number % 50));
    all[5].push_back(std::to_string(10000 + i));
    all[6].push_back(std::to_string(20000 - i));
  }
  for (const char* word : {"b", "a", "", "ab", "a", "b\xc3\xa9"}) all[7].push_back(word);
  return all;
}

void try_input(tutti::communicator& world, const sort::string_array& input) {
  const bool reader = world.rank() == 0;
  meter meter(world);
  auto mine = sort::share_words(world, reader ? &input : nullptr, meter);
  auto sorted = sort::sample_sort(world, mine, meter);
  const auto right = sort::oracle_sorted(input);
  check.that(sort::differences(world, sorted, reader ? &right : nullptr) == 0, "wrong order");
  const std::size_t share = input.size() / world.size();
  if (share >= 50) check.that(sorted.size() <= share * 3 / 2, "one rank has too much");
  if (world.rank() == 0 && sorted.size() > 0) sorted.chars.push_back('x'), ++sorted.lengths.back();
  if (input.size() > static_cast<std::size_t>(world.size()))
    check.that(sort::differences(world, sorted, reader ? &right : nullptr) > 0, "a fault is not seen");
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](tutti::communicator& world, tests::cases& cases) {
    const std::uint64_t seed = tests::selected_seed().value_or(11);
    std::size_t number = 0;
    for (const sort::string_array& input : inputs(seed))
      cases("seed_" + std::to_string(seed) + "/number_" + std::to_string(number++),
            [&] { try_input(world, input); });
  });
}
