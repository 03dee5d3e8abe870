// SPDX-License-Identifier: Apache-2.0
//
// Feeds random texts to the reader of machine files. For every text the reader reports faults with
// their lines, or returns a machine. On such a machine every route is made of its links, and a
// broadcast takes a finite time.
//
// With libFuzzer (built by Clang):  fuzz_machine CORPUS...
// Otherwise with its own loop:      fuzz_machine SECONDS FILE-OR-FOLDER...
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "simulation/read_machine.hpp"
#include "simulation/simulator.hpp"
#include "support/text_fuzzing.hpp"

namespace {

using namespace tutti::simulation;
using namespace tutti;
using tests::expect;

void try_machine(const machine& m) {
  const std::int64_t nodes = m.max_nodes(), wanted = nodes == 0 ? 9 : std::min<std::int64_t>(nodes, 9);
  const int ranks = static_cast<int>(std::min<std::int64_t>(wanted * m.ranks_per_node, 40));
  if (network::memory(m, ranks) > 50e6) return;  // a dragonfly may have many links
  simulator s(m, ranks);
  route r;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      s.links().find(from, to, r);
      expect(r.hops <= max_hops && r.with != nullptr && std::isfinite(r.latency) && r.max_rate > 0,
             "a wrong route");
      for (std::uint32_t h = 0; h < r.hops; ++h)
        expect(r.links[h] < s.links().bandwidths().size() && !s.links().name_of_link(r.links[h]).empty(),
               "a link that does not exist");
    }
  simulated_call c;
  c.what = collective::bcast;
  c.count = 10000;
  const simulation_result done = s.run(c, read_choice(c.what, "bcast/knomial"));
  expect(std::isfinite(done.seconds) && (ranks == 1 || done.seconds > 0), "no time");
}

bool try_text(std::string_view text) {
  const machine_result r = read_machine(text, "fuzz");
  for (const fault& f : r.faults)
    expect(!f.reason.empty() && f.line >= 1 && !f.text().empty(), "an empty fault");
  if (r.good()) try_machine(r.made);
  return r.good();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_text({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef TUTTI_LIBFUZZER
namespace {

tests::text_list words() {
  tests::text_list all = tests::json_words();
  for (const char* word : {"schema",
                           "about",
                           "node",
                           "links",
                           "network",
                           "topology",
                           "flat",
                           "fat_tree",
                           "dragonfly",
                           "tree",
                           "ranks",
                           "sockets",
                           "memory",
                           "between_sockets",
                           "messages",
                           "copy",
                           "reduce",
                           "latency",
                           "bandwidth",
                           "total",
                           "eager_limit",
                           "envelope",
                           "send_overhead",
                           "receive_overhead",
                           "rendezvous_overhead",
                           "handshake",
                           "link",
                           "levels",
                           "children",
                           "parents",
                           "groups",
                           "routers",
                           "nodes",
                           "node_link",
                           "local_link",
                           "global_link",
                           "switches",
                           "name",
                           "above",
                           "nic",
                           "core",
                           "1us",
                           "0s",
                           "10s",
                           "1kB/s",
                           "100Gbit/s",
                           "1TB/s",
                           "64KiB",
                           "0B",
                           "1024GiB",
                           "GB/s",
                           "us",
                           "1",
                           "2",
                           "3",
                           "8",
                           "4096",
                           "65536",
                           "1e-300",
                           "nan",
                           "inf"})
    all.emplace_back(word);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  tests::text_list corpus;
  for (const std::string_view name : builtin_machine_names()) corpus.emplace_back(builtin_machine(name));
  return tests::fuzz(argc, argv, std::move(corpus), words(), try_text);
}
#endif
