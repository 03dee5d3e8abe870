// SPDX-License-Identifier: Apache-2.0
//
// Rank 0 has a vector in blocks and scatters them to their owners. Each owner works on its blocks,
// and rank 0 gathers them. None of these three calls waits for another: a block is sent back as
// soon as it is ready.
#include <cmath>
#include <numeric>

#include <CLI/CLI.hpp>

#include <tutti/tasks.hpp>

#include "support/checked.hpp"

namespace {

using namespace tutti;
using block = std::vector<float>;

block first_contents(std::size_t x, std::size_t length) {
  block b(length);
  std::iota(b.begin(), b.end(), static_cast<float>(x));
  return b;
}

void work(std::span<float> b) {
  for (float& v : b) v = std::sqrt(v) + 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t blocks = 40, length = 3000;
  CLI::App app("Scatters a vector by ownership, works on its blocks, and gathers it.");
  app.add_option("--blocks", blocks, "number of blocks of the vector")->capture_default_str();
  app.add_option("--length", length, "length of a block")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return checked(argc, argv, "scatter_compute_gather", [=](communicator& world) {
    const int root = 0, p = world.size();
    std::vector<block> vector;  // only on the root
    for (std::size_t x = 0; world.is_root() && x < blocks; ++x) vector.push_back(first_contents(x, length));

    tasks::runtime rt(world);
    std::vector<tasks::handle<std::span<float>>> part;
    for (std::size_t x = 0; x < blocks; ++x) {
      const int owner = static_cast<int>(x) % p;
      part.push_back(world.is_root() ? rt.data(vector[x], owner) : rt.data<std::span<float>>(owner, length));
    }
    rt.scatter(part, root);
    // The owner of the block runs the task.
    for (const auto& one : part) rt.insert(work, read_write(one));
    rt.gather(part, root);
    rt.wait_all();

    bool right = true;
    for (std::size_t x = 0; x < blocks; ++x) {
      block serial = first_contents(x, length);
      work(serial);
      if (rt.rank(part[x]) == rt.rank())
        right = right && std::ranges::equal(*rt.acquire(part[x], tasks::access::read), serial);
      if (world.is_root()) right = right && vector[x] == serial;
    }
    return right;
  });
}
