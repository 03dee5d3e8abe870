// SPDX-License-Identifier: Apache-2.0
//
// Slice-wise direct collectives. The vector is divided into p slices, and rank i makes slice i of
// every result, piece by piece. A piece stays in the first-level cache while it is combined. Then
// the rank writes it to every receiver. Measurements of prototypes led to this: pushing pieces of 8
// KiB beats reduce-then-copy and pulling.
#include "transport/shm/slices.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "base/compute/kernels.hpp"
#include "transport/shm/length_mismatch.hpp"

namespace tutti::shm {
namespace {

constexpr std::size_t piece_bytes = 8192;
// Larger results are not kept in a core's caches.
constexpr std::size_t streaming_bytes = std::size_t{6} << 20;

const std::byte* input_of(const call& c) noexcept {
  return static_cast<const std::byte*>(c.in_place ? c.output : c.input);
}
std::byte* output_of(const call& c) noexcept { return static_cast<std::byte*>(c.output); }

// A buffer for one piece, for elements of any size.
class piece_buffer {
 public:
  explicit piece_buffer(std::size_t bytes) {
    if (bytes > piece_bytes) large_.reset(new std::byte[bytes]);
  }
  std::byte* data() noexcept { return large_ ? large_.get() : small_; }

 private:
  alignas(64) std::byte small_[piece_bytes];
  std::unique_ptr<std::byte[]> large_;
};

// Calls body(offset in bytes, elements, bytes) for each piece of this rank's slice of `count`
// elements.
template <class Body>
void for_each_piece(const published_calls& all, std::size_t count, std::size_t element, Body&& body) {
  const auto p = static_cast<std::size_t>(all.size()), r = static_cast<std::size_t>(all.rank());
  const std::size_t quotient = count / p, rest = count % p;
  std::size_t at = r * quotient + std::min(r, rest);
  const std::size_t end = at + quotient + (r < rest ? 1 : 0);
  const std::size_t max_elements = std::max<std::size_t>(1, piece_bytes / element);
  while (at < end) {
    const std::size_t n = std::min(max_elements, end - at);
    body(at * element, n, n * element);
    at += n;
  }
}

void push(void* to, const void* from, std::size_t bytes, bool streaming) noexcept {
  if (to == from) return;
  if (streaming)
    compute::copy_streaming(to, from, bytes);
  else
    compute::copy(to, from, bytes);
}

void bcast(const published_calls& all) {
  const call& mine = all.mine();
  const std::byte* source = static_cast<const std::byte*>(all[mine.root].input);
  const bool streaming = mine.count * mine.type.size >= streaming_bytes;
  for_each_piece(all, mine.count, mine.type.size, [&](std::size_t at, std::size_t, std::size_t bytes) {
    for (int i = 0; i < all.size(); ++i)
      if (i != mine.root) push(output_of(all[i]) + at, source + at, bytes, streaming);
  });
}

// Writes the combination of all ranks' pieces to `target`. `target` may alias an operand only if
// that operand is the first one or p is 2.
void combine_all(const published_calls& all, std::size_t at, std::size_t n, std::byte* scratch,
                 std::byte* target) {
  const operation& op = all.mine().op;
  const int p = all.size();
  const std::byte* left = input_of(all[0]) + at;
  for (int i = 1; i < p; ++i) {
    std::byte* result = i == p - 1 ? target : scratch;
    op.combine(left, input_of(all[i]) + at, result, n, op.state);
    left = result;
  }
  if (p == 1) compute::copy(target, left, n * all.mine().type.size);
}

void allreduce(const published_calls& all) {
  const call& mine = all.mine();
  piece_buffer scratch(mine.type.size);
  const bool streaming = mine.count * mine.type.size >= streaming_bytes;
  for_each_piece(all, mine.count, mine.type.size, [&](std::size_t at, std::size_t n, std::size_t bytes) {
    std::byte* first = output_of(mine) + at;
    combine_all(all, at, n, scratch.data(), first);
    for (int i = 0; i < all.size(); ++i)
      if (i != all.rank()) push(output_of(all[i]) + at, first, bytes, streaming);
  });
}

void reduce(const published_calls& all) {
  const call& mine = all.mine();
  piece_buffer scratch(mine.type.size);
  std::byte* target = output_of(all[mine.root]);
  for_each_piece(all, mine.count, mine.type.size, [&](std::size_t at, std::size_t n, std::size_t) {
    combine_all(all, at, n, scratch.data(), target + at);
  });
}

// out[r] = out[r-1] op in[r]. The previous rank's result is still in the cache.
void scan(const published_calls& all) {
  const call& mine = all.mine();
  const operation& op = mine.op;
  for_each_piece(all, mine.count, mine.type.size, [&](std::size_t at, std::size_t n, std::size_t bytes) {
    push(output_of(all[0]) + at, input_of(all[0]) + at, bytes, false);
    for (int i = 1; i < all.size(); ++i)
      op.combine(output_of(all[i - 1]) + at, input_of(all[i]) + at, output_of(all[i]) + at, n, op.state);
  });
}

// In place, a rank's result overwrites its operand. So the running result is kept in a separate
// buffer. Rank 0 has no result, so nobody overwrites its operand.
void exscan(const published_calls& all) {
  const call& mine = all.mine();
  const operation& op = mine.op;
  piece_buffer one(mine.type.size), two(mine.type.size);
  for_each_piece(all, mine.count, mine.type.size, [&](std::size_t at, std::size_t n, std::size_t bytes) {
    const std::byte* before = input_of(all[0]) + at;
    for (int i = 1; i < all.size(); ++i) {
      std::byte* const with = (i % 2 != 0 ? one : two).data();
      if (i + 1 < all.size()) op.combine(before, input_of(all[i]) + at, with, n, op.state);
      compute::copy(output_of(all[i]) + at, before, bytes);
      before = with;
    }
  });
}

void reduce_scatter_block(const published_calls& all) {
  const call& mine = all.mine();
  const operation& op = mine.op;
  const std::size_t block = mine.count * mine.type.size,
                    max_elements = std::max<std::size_t>(1, piece_bytes / mine.type.size);
  piece_buffer scratch(mine.type.size);
  for (std::size_t done = 0; done < mine.count; done += max_elements) {
    const std::size_t n = std::min(max_elements, mine.count - done);
    const std::size_t at = static_cast<std::size_t>(all.rank()) * block + done * mine.type.size;
    const std::byte* left = static_cast<const std::byte*>(all[0].input) + at;
    for (int i = 1; i < all.size(); ++i) {
      std::byte* result = i == all.size() - 1 ? output_of(mine) + done * mine.type.size : scratch.data();
      op.combine(left, static_cast<const std::byte*>(all[i].input) + at, result, n, op.state);
      left = result;
    }
    if (all.size() == 1) push(output_of(mine) + done * mine.type.size, left, n * mine.type.size, false);
  }
}

// The position of one rank's block in a buffer of blocks, in bytes.
struct span {
  std::size_t at, bytes;
};
span block_of(const call& c, const counts_view& counts, const counts_view& displs, int r) noexcept {
  const auto i = static_cast<std::size_t>(r);
  if (!counts.given()) return {i * c.count * c.type.size, c.count * c.type.size};
  std::size_t at = 0;
  if (displs.given()) {
    at = displs[i];
  } else {
    for (std::size_t k = 0; k < i; ++k) at += counts[k];
  }
  return {at * c.type.size, counts[i] * c.type.size};
}

// The counts of vector forms are local to each rank. Here both sides are available for comparison.
void compare_lengths(const published_calls& all, int sender, std::size_t sent, int receiver,
                     std::size_t expected) {
  if (sent == expected) return;
  detail::throw_length_mismatch(detail::called(all.mine()), all.rank(),
                                {.sender = sender,
                                 .receiver = receiver,
                                 .actual = sent,
                                 .expected = expected,
                                 .parameter = "recv_counts",
                                 .remedy = "make the counts on both sides the same (TUTTI_CHECK=1 names "
                                           "the ranks)"},
                                [](const auto& e) { throw e; });
}

void gather(const published_calls& all) {
  const call &mine = all.mine(), &root = all[mine.root];
  if (root.in_place && all.rank() == mine.root) return;
  const span to = block_of(root, root.out_counts, root.out_displs, all.rank());
  compare_lengths(all, all.rank(), mine.count * mine.type.size, mine.root, to.bytes);
  push(output_of(root) + to.at, mine.input, to.bytes, false);
}

void scatter(const published_calls& all) {
  const call &mine = all.mine(), &root = all[mine.root];
  if (root.in_place && all.rank() == mine.root) return;
  const span from = block_of(root, root.in_counts, root.in_displs, all.rank());
  compare_lengths(all, mine.root, from.bytes, all.rank(), mine.count * mine.type.size);
  push(mine.output, static_cast<const std::byte*>(root.input) + from.at, from.bytes, false);
}

void allgather(const published_calls& all) {
  const call& mine = all.mine();
  const int p = all.size(), r = all.rank();
  const span own_block = block_of(mine, mine.out_counts, mine.out_displs, r);
  const std::byte* source =
      mine.in_place ? output_of(mine) + own_block.at : static_cast<const std::byte*>(mine.input);
  for (std::size_t done = 0; done < own_block.bytes; done += piece_bytes) {
    const std::size_t bytes = std::min(piece_bytes, own_block.bytes - done);
    for (int d = 0; d < p; ++d) {
      const call& other = all[r + d < p ? r + d : r + d - p];
      // Displacements are local to each rank; counts are agreed.
      const std::size_t at = other.out_displs.given()
                                 ? other.out_displs[static_cast<std::size_t>(r)] * mine.type.size
                                 : block_of(mine, mine.out_counts, {}, r).at;
      push(output_of(other) + at + done, source + done, bytes, false);
    }
  }
}

void alltoall(const published_calls& all) {
  const call& mine = all.mine();
  const int p = all.size(), r = all.rank();
  for (int d = 0; d < p; ++d) {
    const int s = r + d < p ? r + d : r + d - p;
    const call& other = all[s];
    const span from = block_of(other, other.in_counts, other.in_displs, r);
    const span to = block_of(mine, mine.out_counts, mine.out_displs, s);
    compare_lengths(all, s, from.bytes, r, to.bytes);
    push(output_of(mine) + to.at, static_cast<const std::byte*>(other.input) + from.at, to.bytes, false);
  }
}

// Each pair of ranks exchanges two blocks. Each rank does the work for half of its pairs.
void alltoall_in_place(const published_calls& all) {
  const int p = all.size(), r = all.rank();
  std::byte buffer[2048];
  for (int s = 0; s < p; ++s) {
    if (s == r || ((r + s) % 2 == 0) != (r < s)) continue;
    const call &a = all[r], &b = all[s];
    const span mine = block_of(a, a.out_counts, a.out_displs, s),
               other = block_of(b, b.out_counts, b.out_displs, r);
    compare_lengths(all, s, other.bytes, r, mine.bytes);
    for (std::size_t done = 0; done < mine.bytes; done += sizeof buffer) {
      const std::size_t bytes = std::min(sizeof buffer, mine.bytes - done);
      std::byte *x = output_of(a) + mine.at + done, *y = output_of(b) + other.at + done;
      compute::copy(buffer, x, bytes);
      compute::copy(x, y, bytes);
      compute::copy(y, buffer, bytes);
    }
  }
}

}  // namespace

bool slices_implement(collective what) noexcept {
  switch (what) {
    case collective::alltoallw:
    case collective::reduce_scatter:
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv:
      return false;
    default:
      return true;
  }
}

void work_slice(const published_calls& all) {
  switch (all.mine().what) {
    case collective::bcast:
      return bcast(all);
    case collective::reduce:
      return reduce(all);
    case collective::allreduce:
      return allreduce(all);
    case collective::gather:
    case collective::gatherv:
      return gather(all);
    case collective::scatter:
    case collective::scatterv:
      return scatter(all);
    case collective::allgather:
    case collective::allgatherv:
      return allgather(all);
    case collective::alltoall:
    case collective::alltoallv:
      return all.mine().in_place ? alltoall_in_place(all) : alltoall(all);
    case collective::scan:
      return scan(all);
    case collective::exscan:
      return exscan(all);
    case collective::reduce_scatter_block:
      return reduce_scatter_block(all);
    default:
      return;
  }
}

}  // namespace tutti::shm
