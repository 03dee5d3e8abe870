// SPDX-License-Identifier: Apache-2.0
//
// Messages between ranks of a node stay in its memory, and those between nodes use the network. The
// kernel's counter of the node's network device is the oracle. usage: sent_bytes NODES. Runs on a
// cluster of scripts/cluster, whose nodes have the names node1, node2, ... and the device eth0.
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "support/check.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;
using tests::check;

constexpr std::size_t message_bytes = 1 << 20;

int number_of_node() {
  std::array<char, 64> name{};
  gethostname(name.data(), name.size() - 1);
  const std::string text = name.data();
  check.that(text.starts_with("node"), "the host name is " + text);
  return std::stoi(text.substr(4));
}

// Bytes that this node has sent so far: the ninth figure of a line "eth0: ...".
std::size_t sent_by_node() {
  std::ifstream devices("/proc/net/dev");
  for (std::string line; std::getline(devices, line);) {
    const auto colon = line.find("eth0:");
    if (colon == std::string::npos) continue;
    std::istringstream figures(line.substr(colon + 5));
    std::size_t figure = 0;
    for (int i = 0; i < 9; ++i) figures >> figure;
    return figure;
  }
  tests::fail("there is no device eth0", std::source_location::current());
}

// Each rank sends one message to `to` and receives one from `from`. Returns the bytes that the node
// has sent meanwhile.
std::size_t sent_by_exchange(const communicator& world, int to, int from) {
  const std::vector<char> mine(message_bytes, static_cast<char>(world.rank()));
  world.barrier();
  const std::size_t before = sent_by_node();
  world.barrier();
  const std::vector<char> got = world.sendrecv(send_buf(mine), destination(to), source(from));
  check.that(got == std::vector<char>(message_bytes, static_cast<char>(from)), "a message is wrong");
  world.barrier();
  const std::size_t sent = sent_by_node() - before;
  world.barrier();
  return sent;
}

}  // namespace

int main(int argc, char** argv) {
  const int expected_nodes = argc > 1 ? std::atoi(argv[1]) : 0;
  return run(argc, argv, [&](communicator& world) {
    const std::vector<int> nodes = world.allgather(send_buf({number_of_node()}));
    check.equal(static_cast<int>(std::set<int>(nodes.begin(), nodes.end()).size()), expected_nodes);
    const int p = world.size(), per_node = p / expected_nodes, me = world.rank();
    for (int r = 0; r < p; ++r) check.equal(nodes[r], r / per_node + 1);

    // Barriers send a few short messages between nodes.
    const int first = me / per_node * per_node;
    const auto within = [&](int shift) { return first + (me - first + shift) % per_node; };
    if (per_node > 1) {
      const std::size_t sent = sent_by_exchange(world, within(1), within(per_node - 1));
      check.that(sent < message_bytes / 10,
                 std::to_string(sent) + " bytes have left the node in messages within it");
    }
    const std::size_t sent = sent_by_exchange(world, (me + per_node) % p, (me + p - per_node) % p);
    const std::size_t expected = message_bytes * static_cast<std::size_t>(per_node);
    check.that(sent >= expected && sent < expected + expected / 4,
               std::to_string(sent) + " bytes have left the node instead of " + std::to_string(expected));
    world.barrier();
    if (me == 0) std::puts("sent_bytes: passed");
    std::fflush(stdout);
  });
}
