// SPDX-License-Identifier: Apache-2.0
#include "demo_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "graph/serial_graph.hpp"

namespace demo {
namespace {

constexpr const char* steps[] = {"search", "components", "sort"};

const outcome* find(const run& on, std::string_view step) {
  for (const outcome& o : on.outcomes)
    if (o.name == step) return &o;
  return nullptr;
}

std::string time(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.0f} us", seconds * 1e6)
         : seconds < 1  ? fmt::format("{:.1f} ms", seconds * 1e3)
                        : fmt::format("{:.2f} s", seconds);
}

std::string size(std::uint64_t bytes) {
  const double b = static_cast<double>(bytes);
  return bytes < 1024           ? fmt::format("{} B", bytes)
         : bytes < (1u << 20)   ? fmt::format("{:.1f} KiB", b / 1024)
         : bytes < (1ull << 30) ? fmt::format("{:.1f} MiB", b / (1 << 20))
                                : fmt::format("{:.1f} GiB", b / (1 << 30));
}

/// Formats 1234567 as 1 234 567.
std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ' ');
  return digits;
}

/// Facts about the input and the answers, computed by the oracles.
struct facts {
  std::vector<std::size_t> levels;  ///< vertices at each distance
  std::size_t reached = 0, components = 0, largest = 0;
  std::size_t distinct_words = 0, most_count = 0;
  std::string most_frequent_word;

  explicit facts(const material& input) {
    for (std::uint32_t d : input.distances) {
      if (d == graph::unreached) continue;
      if (d >= levels.size()) levels.resize(d + 1);
      ++levels[d], ++reached;
    }
    std::vector<std::size_t> sizes(input.components.size());
    for (graph::vertex c : input.components) ++sizes[c];
    components = static_cast<std::size_t>(
        std::count_if(sizes.begin(), sizes.end(), [](std::size_t n) { return n > 0; }));
    if (!sizes.empty()) largest = *std::max_element(sizes.begin(), sizes.end());
    const auto words = input.sorted.views();
    for (std::size_t i = 0, next; i < words.size(); i = next) {
      for (next = i + 1; next < words.size() && words[next] == words[i];) ++next;
      ++distinct_words;
      if (next - i > most_count) most_count = next - i, most_frequent_word = words[i];
    }
  }
};

/// Formats text as a JSON string. Bytes that are not printable ASCII are escaped, so that no input
/// makes the JSON invalid.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += static_cast<char>(c);
    else if (c < 32 || c >= 127)
      out += fmt::format("\\u{:04x}", c);
    else
      out += static_cast<char>(c);
  }
  return out + '"';
}

}  // namespace

bool all_equal(const std::vector<run>& runs) {
  for (const run& on : runs) {
    if (!on.problem.empty()) return false;
    for (const char* step : steps) {
      const outcome *one = find(on, step), *base = find(runs.front(), step);
      if (!one || !base || !one->right || one->hash != base->hash) return false;
    }
  }
  return true;
}

void print_tables(const material& input, const plan& planned, const std::vector<run>& runs) {
  const facts found(input);
  const auto title = [&](std::string_view step) {
    if (step == "search") {
      fmt::print("Breadth-first search from {}: {} of {} vertices reached, at most {} steps away\n",
                 input.graph.names[input.source], grouped(found.reached), grouped(input.graph.names.size()),
                 found.levels.size() - 1);
    } else if (step == "components") {
      fmt::print("Connected components: {}, the largest of {} vertices\n", grouped(found.components),
                 grouped(found.largest));
    } else {
      fmt::print("Sample sort of {} words: {} different ones, \"{}\" {} times\n",
                 grouped(input.sorted.size()), grouped(found.distinct_words), found.most_frequent_word,
                 grouped(found.most_count));
    }
  };
  fmt::print("Graph: {}: {} vertices, {} edges\n", input.graph.origin, grouped(input.graph.names.size()),
             grouped(input.graph.edges.size()));
  fmt::print("Texts: {}: {} files, {} words\n", input.texts.origin, grouped(input.texts.files),
             grouped(input.texts.words.size()));
  for (const char* step : steps) {
    fmt::print("\n");
    title(step);
    fmt::print("  {:<8} {:>5} {:>9} {:>7} {:>10}  {:<6}  {}\n", "engine", "ranks", "time", "speed", "moved",
               "result", "algorithms");
    for (const run& on : runs) {
      fmt::print("  {:<8} {:>5} ", on.on.name, on.on.ranks);
      const outcome *one = find(on, step), *base = find(runs.front(), step);
      if (!one) {
        fmt::print("failed: {}\n", on.problem);
        continue;
      }
      const bool equal = one->right && base && one->hash == base->hash;
      const std::string speed =
          runs.front().on.ranks == 1 && base ? fmt::format("{:.2f}x", base->seconds / one->seconds) : "-";
      fmt::print("{:>9} {:>7} {:>10}  {:<6}  {}\n", time(one->seconds), speed, size(one->bytes),
                 equal ? "equal" : "WRONG", one->algorithms);
    }
  }
  fmt::print("\n");
  for (const auto& [name, why] : planned.absent) fmt::print("Left out: {}: {}.\n", name, why);
  fmt::print(
      "speed: against one rank. moved: bytes that were sent to another rank. result: equal to a sequential "
      "program's.\n");
  fmt::print("{}\n",
             all_equal(runs) ? "Results equal on every engine." : "RESULTS DIFFER, or an engine failed.");
}

void print_json(const material& input, const plan& planned, const std::vector<run>& runs) {
  const facts found(input);
  fmt::print("{{\n  \"equal\": {},\n", all_equal(runs));
  fmt::print(
      "  \"graph\": {{\"origin\": {}, \"vertices\": {}, \"edges\": {}, \"source\": {}, \"levels\": [{}], "
      "\"components\": {}, \"largest_component\": {}}},\n",
      json_string(input.graph.origin), input.graph.names.size(), input.graph.edges.size(),
      json_string(input.graph.names[input.source]), fmt::join(found.levels, ", "), found.components,
      found.largest);
  fmt::print(
      "  \"texts\": {{\"origin\": {}, \"files\": {}, \"words\": {}, \"distinct_words\": {}, "
      "\"most_frequent\": {}, "
      "\"most_frequent_count\": {}}},\n",
      json_string(input.texts.origin), input.texts.files, input.texts.words.size(), found.distinct_words,
      json_string(found.most_frequent_word), found.most_count);
  fmt::print("  \"absent\": {{");
  const char* comma = "";
  for (const auto& [name, why] : planned.absent)
    fmt::print("{}{}: {}", std::exchange(comma, ", "), json_string(name), json_string(why));
  fmt::print("}},\n  \"runs\": [");
  comma = "";
  for (const run& on : runs) {
    fmt::print("{}\n    {{\"engine\": {}, \"ranks\": {}, \"problem\": {}, \"steps\": [",
               std::exchange(comma, ","), json_string(on.on.name), on.on.ranks,
               on.problem.empty() ? "null" : json_string(on.problem));
    const char* between = "";
    for (const outcome& o : on.outcomes) {
      fmt::print(
          "{}\n      {{\"step\": {}, \"seconds\": {:.9f}, \"bytes_moved\": {}, \"hash\": \"{:016x}\", "
          "\"right\": {}, "
          "\"algorithms\": {}}}",
          std::exchange(between, ","), json_string(o.name), o.seconds, o.bytes, o.hash, o.right,
          json_string(o.algorithms));
    }
    fmt::print("]}}");
  }
  fmt::print("\n  ]\n}}\n");
}

}  // namespace demo
