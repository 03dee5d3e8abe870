// SPDX-License-Identifier: Apache-2.0
//
// Tests alltoallv over the grid against its definition: all sizes of blocks, all forms of
// parameters, in place, gaps, and errors.
#include <algorithm>

#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/grid.hpp"
#include "tutti/tutti.hpp"

using namespace tutti;
using tests::check;

namespace {

struct item {
  int from, to, number;
  char tail;  // followed by three bytes of padding
  bool operator==(const item&) const = default;
};

// How many elements go from one rank to another.
std::size_t count(int kind, int from, int to, int p) {
  switch (kind) {
    case 0:  // each pair differs, some have none
      return static_cast<std::size_t>((from * 7 + to * 3) % 5);
    case 1:  // one each
      return 1;
    case 2:  // none
      return 0;
    case 3:  // one pair
      return from == p - 1 && to == p / 2 ? 1000 : 0;
    case 4:  // all to one
      return to == p - 1 ? static_cast<std::size_t>(from + 1) : 0;
    default:  // one to all
      return from == p - 1 ? static_cast<std::size_t>(to + 1) : 0;
  }
}
constexpr int kinds = 6;

std::vector<item> block(int kind, int from, int to, int p) {
  std::vector<item> v;
  for (std::size_t i = 0; i < count(kind, from, to, p); ++i)
    v.push_back({from, to, static_cast<int>(i), 'x'});
  return v;
}

void all_forms(communicator& world, const grid_communicator& grid, int kind) {
  const int p = world.size(), me = world.rank();
  std::vector<item> give, take;
  std::vector<int> sends, takes;
  for (int r = 0; r < p; ++r) {
    const auto out = block(kind, me, r, p), in = block(kind, r, me, p);
    give.insert(give.end(), out.begin(), out.end());
    take.insert(take.end(), in.begin(), in.end());
    sends.push_back(static_cast<int>(out.size()));
    takes.push_back(static_cast<int>(in.size()));
  }
  check.that(grid.alltoallv(send_buf(give), send_counts(sends)) == take);
  auto [received, counts, displs] =
      grid.alltoallv(send_buf(give), send_counts(sends), recv_counts_out(), recv_displs_out());
  check.that(received == take);
  check.equal(counts, takes);
  check.equal(displs.empty() ? 0 : displs[0], 0);
  check.that(grid.alltoallv(recv_counts(takes), send_counts(sends), send_buf(give)) == take);

  // both in reverse order, with a gap before each block
  std::vector<std::size_t> from(static_cast<std::size_t>(p)), to(from);
  std::size_t out_end = 0, in_end = 0;
  for (std::size_t r = from.size(); r-- > 0;) {
    from[r] = ++out_end;
    out_end += static_cast<std::size_t>(sends[r]);
    to[r] = ++in_end;
    in_end += static_cast<std::size_t>(takes[r]);
  }
  const item hole{-1, -1, -1, '-'};
  std::vector<item> spread_out(out_end, hole), spread_in(in_end, hole), expected(in_end, hole);
  for (int r = 0; r < p; ++r) {
    const auto i = static_cast<std::size_t>(r);
    const auto out = block(kind, me, r, p), in = block(kind, r, me, p);
    std::copy(out.begin(), out.end(), spread_out.begin() + static_cast<std::ptrdiff_t>(from[i]));
    std::copy(in.begin(), in.end(), expected.begin() + static_cast<std::ptrdiff_t>(to[i]));
  }
  grid.alltoallv(send_buf(spread_out), send_counts(sends), send_displs(from), recv_buf(spread_in),
                 recv_displs(to));
  check.that(spread_in == expected);
}

void in_place(communicator& world, const grid_communicator& grid) {
  const int p = world.size(), me = world.rank();
  std::vector<item> mine, right;
  std::vector<int> counts;
  for (int r = 0; r < p; ++r) {  // the same length in both directions
    counts.push_back((me + r) % 3);
    for (int i = 0; i < counts.back(); ++i) mine.push_back({me, r, i, 'x'}), right.push_back({r, me, i, 'x'});
  }
  grid.alltoallv(send_recv_buf(mine), recv_counts(counts));
  check.that(mine == right);
}

// The other collectives are those of the communicator.
void is_a_communicator(communicator& world, const grid_communicator& grid) {
  const int p = world.size();
  check.equal(grid.allreduce_single(send_buf(1), op(std::plus<>{})), p);
  check.that(grid.columns() * grid.columns() >= p && (grid.columns() - 1) * (grid.columns() - 1) < p);
  check.that(grid.rows() * grid.columns() >= p && (grid.rows() - 1) * grid.columns() < p);
  check.equal(grid.row() * grid.columns() + grid.column(), world.rank());
  const grid_communicator other = grid;
  check.equal(other
                  .alltoallv(send_buf(std::vector<int>(static_cast<std::size_t>(p), world.rank())),
                             send_counts(std::vector<int>(static_cast<std::size_t>(p), 1)))
                  .back(),
              p - 1);
}

void misuse(communicator& world, const grid_communicator& grid) {
  const auto p = static_cast<std::size_t>(world.size());
  const std::vector<int> v(p), ones(p, 1), twos(p, 2);
  check.throws<usage_error>([&] { grid.alltoallv(send_buf(v), send_counts(twos)); },
                            {"alltoallv", "send_counts"});
  std::vector<int> small;
  check.throws<usage_error>(
      [&] { grid.alltoallv(send_buf(v), send_counts(ones), recv_counts(ones), recv_buf(small)); },
      {"alltoallv", "recv_buf"});
  if (p > 1) {
    const std::vector<int> same(p, 0);
    std::vector<int> one(1);
    check.throws<usage_error>(
        [&] {
          grid.alltoallv(send_buf(v), send_counts(ones), recv_counts(ones), recv_displs(same),
                         recv_buf<resize_to_fit>(one));
        },
        {"recv_displs"});
  }
  check.equal(grid.alltoallv(send_buf(ones), send_counts(ones)), ones);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](communicator& world, tests::cases& cases) {
    const grid_communicator grid(world);
    for (int kind = 0; kind < kinds; ++kind)
      cases("kind_" + std::to_string(kind), [&] { all_forms(world, grid, kind); });
    cases("in_place", [&] { in_place(world, grid); });
    cases("is_a_communicator", [&] { is_a_communicator(world, grid); });
    cases("misuse", [&] { misuse(world, grid); });
  });
}
