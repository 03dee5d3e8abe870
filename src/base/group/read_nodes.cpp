// SPDX-License-Identifier: Apache-2.0
//
// Parses TUTTI_NODES, which describes nodes that need not exist. So hierarchical compositions can
// be tried on any machine. An error reports a valid alternative.
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/group/hierarchy.hpp"

namespace tutti::detail {
namespace {

constexpr std::int64_t max_ranks = 1000000;  // the same as the maximum number of ranks of a job
constexpr std::size_t max_factors = 9;
constexpr std::string_view forms =
    "; write 4x2 (4 nodes of 2 ranks), 2x3x4 (2 nodes of 3 nodes of 4 ranks), 3,1,4 (nodes of 3, 1 and 4 "
    "ranks) or 0:1:0:1 (the node of each rank)";

std::string quoted(std::string_view text) {
  constexpr std::size_t max_shown = 40;
  const bool shown = text.size() <= max_shown;
  return '"' + std::string(shown ? text : text.substr(0, max_shown)) + (shown ? "\"" : "...\"");
}

[[noreturn]] void reject(std::string_view text, const std::string& why) {
  throw std::invalid_argument("is " + quoted(text) + why);
}

std::int64_t read_one(std::string_view text, std::string_view part, std::int64_t min_value) {
  std::int64_t value = 0;
  const char* end = part.data() + part.size();
  const auto [stop, fault] = std::from_chars(part.data(), end, value);
  const bool digits = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
  if (!digits || stop != end)
    reject(text, part.empty() ? ", which lacks a number" + std::string(forms)
                              : ", but " + quoted(part) + " is not a number" + std::string(forms));
  if (fault != std::errc{} || value > max_ranks)
    reject(text, ", but " + quoted(part) + " exceeds the maximum of " + std::to_string(max_ranks));
  if (value < min_value) reject(text, ", but a node has at least one rank; remove the zeros");
  return value;
}

std::vector<std::int64_t> read_all(std::string_view text, char separator, std::int64_t min_value) {
  std::vector<std::int64_t> numbers;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find(separator, from);
    numbers.push_back(read_one(text, text.substr(from, to == text.npos ? to : to - from), min_value));
    if (to == text.npos) return numbers;
    from = to + 1;
  }
}

std::string but_there_are(int ranks) { return ", but there are " + std::to_string(ranks); }

std::string count_of(std::int64_t total) {
  return total > max_ranks ? "more than " + std::to_string(max_ranks) + " ranks"
                           : std::to_string(total) + (total == 1 ? " rank" : " ranks");
}

// Builds the topology of "4x2": sizes from the coarsest level down to the ranks of a finest node. A
// single number is the size of the only node.
hierarchy from_product(std::string_view text, const std::vector<std::int64_t>& numbers, int ranks) {
  if (numbers.size() > max_factors)
    reject(text, ", which has more than " + std::to_string(max_factors - 1) + " levels of nodes");
  std::int64_t total = 1;
  for (const std::int64_t n : numbers) total = total > max_ranks ? total : total * n;
  if (total != ranks) {
    const std::int64_t each = numbers.back(), nodes = numbers.front();
    reject(text, ", which makes " + count_of(total) + but_there_are(ranks) + "; write " +
                     (ranks % each == 0    ? std::to_string(ranks / each) + "x" + std::to_string(each)
                      : ranks % nodes == 0 ? std::to_string(nodes) + "x" + std::to_string(ranks / nodes)
                                           : "1x" + std::to_string(ranks)));
  }
  std::vector<std::vector<int>> node_of;
  std::int64_t each = numbers.back();
  for (std::size_t l = numbers.size() - 1;; --l) {
    auto& level = node_of.emplace_back();
    for (int r = 0; r < ranks; ++r) level.push_back(static_cast<int>(r / each));
    if (l <= 1) return hierarchy(node_of);
    each *= numbers[l - 1];
  }
}

hierarchy from_sizes(std::string_view text, const std::vector<std::int64_t>& sizes, int ranks) {
  std::int64_t total = 0;
  for (const std::int64_t n : sizes) total = total > max_ranks ? total : total + n;
  if (total != ranks)
    reject(text, ", which makes " + count_of(total) + but_there_are(ranks) +
                     "; the ranks of all nodes must add up to " + std::to_string(ranks));
  std::vector<std::vector<int>> node_of(1);
  for (std::size_t node = 0; node < sizes.size(); ++node)
    node_of[0].insert(node_of[0].end(), static_cast<std::size_t>(sizes[node]), static_cast<int>(node));
  return hierarchy(node_of);
}

hierarchy from_nodes(std::string_view text, const std::vector<std::int64_t>& nodes, int ranks) {
  if (nodes.size() != static_cast<std::size_t>(ranks))
    reject(text, ", which gives the nodes of " + count_of(static_cast<std::int64_t>(nodes.size())) +
                     but_there_are(ranks) + "; give " + std::to_string(ranks) + " numbers, separated by ':'");
  return hierarchy(std::vector<std::vector<int>>{{nodes.begin(), nodes.end()}});
}

}  // namespace

hierarchy read_nodes(std::string_view text, int ranks) {
  if (text.empty()) throw std::invalid_argument("is empty" + std::string(forms));
  const std::size_t at = text.find_first_of("x,:");
  const char separator = at == text.npos ? 'x' : text[at];
  if (at != text.npos)
    for (const char other : std::string_view("x,:"))
      if (other != separator && text.find(other) != text.npos)
        reject(text, ", which mixes '" + std::string(1, separator) + "' and '" + std::string(1, other) + "'" +
                         std::string(forms));
  const auto numbers = read_all(text, separator, separator == ':' ? 0 : 1);
  return separator == 'x'   ? from_product(text, numbers, ranks)
         : separator == ',' ? from_sizes(text, numbers, ranks)
                            : from_nodes(text, numbers, ranks);
}

}  // namespace tutti::detail
