// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "demo_progress.hpp"
#include "graph/components.hpp"
#include "graph/packages.hpp"
#include "graph/search.hpp"
#include "graph/serial_graph.hpp"
#include "sort/sample_sort.hpp"
#include "sort/serial_sort.hpp"

namespace demo {
namespace {

using clock = std::chrono::steady_clock;

/// Mixes the bits of index and value. The sum over all (index, value) identifies a result, and does
/// not depend on the order of summation.
std::uint64_t mixed(std::uint64_t index, std::uint64_t value) {
  std::uint64_t x = index * 0x9e3779b97f4a7c15u ^ value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::uint64_t hash_of(const std::vector<std::uint32_t>& values, std::uint64_t first) {
  std::uint64_t sum = 0;
  for (std::uint32_t value : values) sum += mixed(first++, value);
  return sum;
}

std::uint64_t hash_of(const sort::string_array& words, std::uint64_t first) {
  std::uint64_t sum = 0;
  for (std::string_view word : words.views()) {
    std::uint64_t word_hash = 0xcbf29ce484222325u;
    for (unsigned char c : word) word_hash = (word_hash ^ c) * 0x100000001b3u;
    sum += mixed(first++, word_hash);
  }
  return sum;
}

/// Runs `body(meter)` twice, so that memory is warm on every engine, or up to five times while that
/// is quick. Keeps the best time. `wrong(result)` returns the number of differences.
template <class Body, class Wrong>
outcome measure(tutti::communicator& world, const char* name, Body&& body, Wrong&& wrong) {
  using namespace tutti;
  outcome end{.name = name, .seconds = std::numeric_limits<double>::infinity()};
  double spent = 0;
  for (int run = 1;; ++run) {
    meter meter(world);
    world.barrier();
    const auto start = clock::now();
    const auto result = body(meter);
    world.barrier();
    const double seconds = std::chrono::duration<double>(clock::now() - start).count();
    end.seconds = std::min(end.seconds, seconds);
    spent += seconds;
    if (world.bcast_single(send_recv_buf(run < 2 || (run < 5 && spent < 2)))) continue;
    const std::uint64_t first =
        world.exscan_single(send_buf(std::uint64_t{result.size()}), op(std::plus<>{}));
    end.hash = world.allreduce_single(send_buf(hash_of(result, first)), op(std::plus<>{}));
    end.bytes = world.allreduce_single(send_buf(meter.bytes()), op(std::plus<>{}));
    end.right = wrong(result) == 0;
    for (const std::string& algorithm : meter.algorithms())
      end.algorithms += (end.algorithms.empty() ? "" : " ") + algorithm;
    return end;
  }
}

}  // namespace

material read(const request& options) {
  material all;
  {
    const progress showing(options.quiet ? "" : "reading the graph");
    all.graph = options.edges.empty() ? graph::read_packages() : graph::read_edges(options.edges);
    if (options.from.empty()) {
      all.source = graph::busiest(all.graph);
    } else {
      const auto at = std::find(all.graph.names.begin(), all.graph.names.end(), options.from);
      if (at == all.graph.names.end())
        throw input_error("--from", "there is no \"" + options.from + "\" in " + all.graph.origin);
      all.source = static_cast<graph::vertex>(at - all.graph.names.begin());
    }
    all.distances = graph::oracle_distances(all.graph, all.source);
    all.components = graph::oracle_components(all.graph);
  }
  {
    const progress showing(options.quiet ? "" : "reading the texts");
    all.texts = options.texts.empty() ? sort::read_words() : sort::read_words(options.texts);
  }
  const progress showing(options.quiet ? "" : "sorting all words once for comparison");
  all.sorted = sort::oracle_sorted(all.texts.words);
  return all;
}

std::vector<outcome> work(tutti::communicator& world, const material* input) {
  using namespace tutti;
  std::vector<outcome> all;
  meter before(world);
  {
    const graph::distributed_graph mine(world, input ? &input->graph : nullptr, before);
    const auto source = world.bcast_single(send_recv_buf(input ? input->source : graph::vertex{0}));
    all.push_back(measure(
        world, "search", [&](meter& meter) { return graph::search(world, mine, source, meter); },
        [&](const auto& found) {
          return graph::differences(world, mine, found, input ? &input->distances : nullptr);
        }));
    all.push_back(measure(
        world, "components", [&](meter& meter) { return graph::components(world, mine, meter); },
        [&](const auto& found) {
          return graph::differences(world, mine, found, input ? &input->components : nullptr);
        }));
  }
  const sort::string_array mine = sort::share_words(world, input ? &input->texts.words : nullptr, before);
  all.push_back(measure(
      world, "sort", [&](meter& meter) { return sort::sample_sort(world, mine, meter); },
      [&](const auto& sorted) {
        return sort::differences(world, sorted, input ? &input->sorted : nullptr);
      }));
  return all;
}

}  // namespace demo
