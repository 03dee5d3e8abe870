// SPDX-License-Identifier: Apache-2.0
//
// Tests alltoallw: blocks with different layouts, with gaps on either side or none, in all forms
// and in place.
#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

void blocks_of_different_layouts(communicator& world) {
  const auto p = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
  // A matrix of p columns and `rows` rows. Column j goes to rank j and arrives contiguously. So
  // each rank gets its column of all matrices.
  const std::size_t rows = 3;
  std::vector<int> matrix(rows * p), expected;
  const auto entry = [&](std::size_t owner, std::size_t row, std::size_t column) {
    return static_cast<int>(owner * 10000 + row * 100 + column);
  };
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < p; ++j) matrix[i * p + j] = entry(me, i, j);
  for (std::size_t r = 0; r < p; ++r)
    for (std::size_t i = 0; i < rows; ++i) expected.push_back(entry(r, i, me));
  const std::vector<int> ones(p, 1);
  std::vector<std::size_t> byte_of_column(p);
  for (std::size_t j = 0; j < p; ++j) byte_of_column[j] = j * sizeof(int);
  const std::vector<layout> columns(
      p, layout::vector(rows, sizeof(int), static_cast<std::ptrdiff_t>(p * sizeof(int)))),
      dense(p, layout::contiguous(rows * sizeof(int)));
  check.equal(world.alltoallw(send_buf(matrix), send_counts(ones), send_displs(byte_of_column),
                              send_types(columns), recv_counts(ones), recv_types(dense)),
              expected);
  check.equal(world
                  .ialltoallw(send_buf(matrix), send_counts(ones), send_displs(byte_of_column),
                              send_types(columns), recv_counts(ones), recv_types(dense))
                  .wait(),
              expected);
  auto plan = world.alltoallw_init(send_buf(matrix), send_counts(ones), send_displs(byte_of_column),
                                   send_types(columns), recv_counts(ones), recv_types(dense));
  for (int i = 0; i < 2; ++i) plan.start(), check.equal(plan.wait(), expected);

  // The reverse: contiguous blocks become columns, and the elements between them stay.
  std::vector<int> back(rows * p + 1, -7);
  world.alltoallw(send_buf(expected), send_counts(ones), send_types(dense), recv_buf(back), recv_counts(ones),
                  recv_displs(byte_of_column), recv_types(columns));
  matrix.push_back(-7);
  check.equal(back, matrix);
  matrix.pop_back();

  // In place: the first int of each item is exchanged, the second one stays.
  const std::vector<layout> gapped(p, layout::vector(1, sizeof(int), sizeof(int)).resized(2 * sizeof(int)));
  std::vector<int> both(2 * p);
  for (std::size_t r = 0; r < p; ++r) both[2 * r] = static_cast<int>(me * 100 + r), both[2 * r + 1] = -1;
  world.alltoallw(send_recv_buf(both), recv_counts(ones), recv_types(gapped));
  for (std::size_t r = 0; r < p; ++r) {
    check.equal(both[2 * r], static_cast<int>(r * 100 + me));
    check.equal(both[2 * r + 1], -1);
  }
  // Items of different numbers and sizes: rank r sends rank q (r + q) % 3 pairs, which arrive as
  // twice as many ints.
  std::vector<int> gives(p), takes(p);
  std::vector<int> pairs, singles;
  for (std::size_t q = 0; q < p; ++q) {
    gives[q] = static_cast<int>((me + q) % 3);
    takes[q] = 2 * gives[q];
    for (int i = 0; i < takes[q]; ++i) {
      pairs.push_back(static_cast<int>(me * 100 + q));
      singles.push_back(static_cast<int>(q * 100 + me));
    }
  }
  const std::vector<layout> two(p, layout::contiguous(2 * sizeof(int))),
      one(p, layout::contiguous(sizeof(int)));
  check.equal(world.alltoallw(send_buf(pairs), send_counts(gives), send_types(two), recv_counts(takes),
                              recv_types(one)),
              singles);

  check.throws<usage_error>(
      [&] {
        world.alltoallw(send_buf(matrix), send_counts(ones), send_types(std::vector<layout>()),
                        recv_counts(ones), recv_types(dense));
      },
      {"alltoallw", "send_types", "layouts"});
  std::vector<int> small(1);
  check.throws<usage_error>(
      [&] {
        world.alltoallw(send_buf(small), send_counts(ones), send_displs(byte_of_column), send_types(columns),
                        recv_counts(ones), recv_types(dense));
      },
      {"alltoallw", "send_counts"});
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    cases("blocks_of_different_layouts", [&] { blocks_of_different_layouts(world); });
  });
}
