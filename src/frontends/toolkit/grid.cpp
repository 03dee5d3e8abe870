// SPDX-License-Identifier: Apache-2.0
#include "tutti/grid.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

using bytes = std::vector<std::byte>;

// Precedes every block that is not empty.
struct block_header {
  std::uint32_t source, destination;
  std::uint64_t elements;
};

// Contiguous messages whose blocks are added in any order, once the lengths are known.
class message_builder {
 public:
  explicit message_builder(std::size_t n) : lengths_(n), next_(n) {}

  void add_length(std::size_t message, std::size_t length) { lengths_[message] += length; }
  void allocate() {
    std::exclusive_scan(lengths_.begin(), lengths_.end(), next_.begin(), std::size_t{0});
    data_.resize(std::accumulate(lengths_.begin(), lengths_.end(), std::size_t{0}));
  }
  void append(std::size_t message, const block_header& h, const std::byte* block, std::size_t length) {
    std::byte* to = data_.data() + next_[message];
    std::memcpy(to, &h, sizeof h);
    std::memcpy(to + sizeof h, block, length);
    next_[message] += sizeof h + length;
  }

  const bytes& data() const { return data_; }
  const std::vector<std::size_t>& lengths() const { return lengths_; }

 private:
  bytes data_;
  std::vector<std::size_t> lengths_, next_;
};

// Calls visit(block_header, block) for all blocks of contiguous messages.
template <class Visit>
void for_each_block(const bytes& all, std::size_t element, Visit&& visit) {
  for (const std::byte *at = all.data(), *end = at + all.size(); at != end;) {
    block_header h;
    std::memcpy(&h, at, sizeof h);
    visit(h, at + sizeof h);
    at += sizeof h + h.elements * element;
  }
}

int columns_of(int p) {
  int c = 1;
  while (static_cast<long long>(c) * c < p) ++c;
  return c;
}

// Element offsets of the blocks: the given displacements, or contiguous blocks.
std::vector<std::size_t> offsets_of(const counts_view& counts, const counts_view& displs, std::size_t p) {
  std::vector<std::size_t> offsets(p);
  std::size_t next = 0;
  for (std::size_t i = 0; i < p; ++i) {
    offsets[i] = displs.given() ? displs[i] : next;
    next += counts[i];
  }
  return offsets;
}

// The intermediate rank on the way from `source` to `column`.
int intermediate_rank(int p, int columns, int source, int column) {
  const int row = source / columns;
  if (row * columns + column < p) return row * columns + column;
  // The last row is short, so there is a row above it.
  return source % columns % row * columns + column;
}

std::vector<int> sources_along_row(int p, int columns, int me) {
  std::vector<int> all;
  const int row = me / columns, last = (p - 1) / columns;
  for (int s = row * columns; s < std::min(p, (row + 1) * columns); ++s) all.push_back(s);
  for (int s = last * columns; s < p && row != last; ++s)
    if (intermediate_rank(p, columns, s, me % columns) == me) all.push_back(s);
  return all;
}

graph_communicator row_graph(const communicator& ranks, int columns, const std::source_location& at) {
  const detail::enclosing_call scope(detail::impl_of(ranks), "grid_communicator", at);
  std::vector<int> destinations;
  for (int c = 0; c < columns; ++c)
    destinations.push_back(intermediate_rank(ranks.size(), columns, ranks.rank(), c));
  return ranks.graph(sources_along_row(ranks.size(), columns, ranks.rank()), destinations, at);
}

// The second step of the constructor.
graph_communicator column_graph(const communicator& ranks, int columns, const std::source_location& at) {
  const detail::enclosing_call scope(detail::impl_of(ranks), "grid_communicator", at);
  const detail::deferred_rejections steps(detail::count_of_deferrals(detail::impl_of(ranks)));
  std::vector<int> all;
  for (int r = ranks.rank() % columns; r < ranks.size(); r += columns) all.push_back(r);
  return ranks.graph(all, all, at);
}

}  // namespace

grid_communicator::grid_communicator(const communicator& ranks, std::source_location at)
    : communicator(ranks),
      columns_(columns_of(ranks.size())),
      along_row_(row_graph(ranks, columns_, at)),
      along_column_(column_graph(ranks, columns_, at)) {}

void grid_communicator::execute(const call& c) const {
  constexpr const char* operation = "grid_communicator::alltoallv";
  detail::validate_call(detail::impl_of(*this), c);
  const detail::deferred_rejections steps(detail::count_of_deferrals(detail::impl_of(*this)));
  const auto p = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(rank());
  const auto columns = static_cast<std::size_t>(columns_);
  const std::size_t element = c.type.size;
  const std::vector<std::size_t> from = offsets_of(c.in_counts, c.in_displs, p);
  const std::vector<std::size_t> to = offsets_of(c.out_counts, c.out_displs, p);
  const auto* input = static_cast<const std::byte*>(c.input);
  auto* output = static_cast<std::byte*>(c.output);

  message_builder first(columns);
  for (std::size_t d = 0; d < p; ++d)
    if (d != me && c.in_counts[d] != 0)
      first.add_length(d % columns, sizeof(block_header) + c.in_counts[d] * element);
  first.allocate();
  for (std::size_t d = 0; d < p; ++d)
    if (d != me && c.in_counts[d] != 0)
      first.append(d % columns,
                   {static_cast<std::uint32_t>(me), static_cast<std::uint32_t>(d), c.in_counts[d]},
                   input + from[d] * element, c.in_counts[d] * element);
  const bytes in_transit =
      along_row_.neighbor_alltoallv(send_buf(first.data()), send_counts(first.lengths()));

  message_builder second(static_cast<std::size_t>(along_column_.destinations()));
  for_each_block(in_transit, element, [&](const block_header& h, const std::byte*) {
    second.add_length(h.destination / columns, sizeof h + h.elements * element);
  });
  second.allocate();
  for_each_block(in_transit, element, [&](const block_header& h, const std::byte* block) {
    second.append(h.destination / columns, h, block, h.elements * element);
  });
  std::vector<std::size_t> expected(static_cast<std::size_t>(along_column_.sources()));
  for (std::size_t s = 0; s < p; ++s)
    if (s != me && c.out_counts[s] != 0)
      expected[static_cast<std::size_t>(intermediate_rank(size(), columns_, static_cast<int>(s), column()) /
                                        columns_)] += sizeof(block_header) + c.out_counts[s] * element;
  const bytes arrived = along_column_.neighbor_alltoallv(
      send_buf(second.data()), send_counts(second.lengths()), recv_counts(expected));
  detail::count_call(detail::impl_of(*this));

  if (c.in_counts[me] != c.out_counts[me])
    throw mismatch_error(
        operation, rank(), "recv_counts", "this rank does not receive from itself what it sends",
        "pass the counts that are sent, or leave them out", detail::place_of(detail::impl_of(*this)));
  if (c.in_counts[me] != 0)
    std::memmove(output + to[me] * element, input + from[me] * element, c.in_counts[me] * element);
  for_each_block(arrived, element, [&](const block_header& h, const std::byte* block) {
    if (h.elements != c.out_counts[h.source])
      throw mismatch_error(
          operation, rank(), "recv_counts",
          std::to_string(h.elements) + " elements arrived from rank " + std::to_string(h.source) + ", but " +
              std::to_string(c.out_counts[h.source]) + " were expected",
          "pass the counts that are sent, or leave them out", detail::place_of(detail::impl_of(*this)));
    std::memcpy(output + to[h.source] * element, block, h.elements * element);
  });
}

}  // namespace tutti
