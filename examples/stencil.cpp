// SPDX-License-Identifier: Apache-2.0
//
// Heat on a plate: Jacobi's iteration on a grid, of which each rank holds a tile. Before each step
// neighboring tiles exchange their borders, all four in one neighborhood collective.
#include <optional>
#include <vector>

#include "support/checked.hpp"

namespace {

using namespace tutti;
using field = std::vector<double>;

/// The local tile of an n x n plate, with a halo. The halo holds the neighbors' values, or the
/// fixed border of the plate.
struct tile {
  int n, rows, columns, row, column;  // of the grid of ranks, which is as square as possible
  int top, left, height, width;
  tile(int points, int ranks, int rank) : n(points), rows(1) {
    for (int r = 1; r * r <= ranks; ++r)
      if (ranks % r == 0) rows = r;
    columns = ranks / rows, row = rank / columns, column = rank % columns;
    top = n * row / rows, height = n * (row + 1) / rows - top;
    left = n * column / columns, width = n * (column + 1) / columns - left;
  }
  int place(int i, int j) const { return i * (width + 2) + j; }  // (1, 1) is the first local point
};

/// Sets the fixed values: the upper border of the plate is hot.
field cold_plate(const tile& t) {
  field u((t.height + 2) * (t.width + 2));
  if (t.row == 0)
    for (int j = 0; j < t.width + 2; ++j) u[t.place(0, j)] = 1;
  return u;
}

void step(const tile& t, const field& u, field& v) {
  for (int i = 1; i <= t.height; ++i)
    for (int j = 1; j <= t.width; ++j)
      v[t.place(i, j)] =
          (u[t.place(i - 1, j)] + u[t.place(i + 1, j)] + u[t.place(i, j - 1)] + u[t.place(i, j + 1)]) / 4;
}

// count: halo exchange
/// The borders of the local tile and the ranks that they are exchanged with.
class halo {
 public:
  halo(communicator& world, const tile& t) {
    const int w = t.width, h = t.height;
    if (t.row > 0) add(world.rank() - t.columns, {t.place(1, 1), t.place(0, 1), 1, w});
    if (t.row + 1 < t.rows) add(world.rank() + t.columns, {t.place(h, 1), t.place(h + 1, 1), 1, w});
    if (t.column > 0) add(world.rank() - 1, {t.place(1, 1), t.place(1, 0), w + 2, h});
    if (t.column + 1 < t.columns) add(world.rank() + 1, {t.place(1, w), t.place(1, w + 1), w + 2, h});
    grid_ = world.graph(neighbors_, neighbors_);
  }
  void exchange(field& u) {
    out_.clear();
    for (const side& s : sides_)
      for (int k = 0; k < s.length; ++k) out_.push_back(u[s.inside + k * s.stride]);
    in_.resize(out_.size());
    grid_->neighbor_alltoallv(send_buf(out_), send_counts(lengths_), recv_counts(lengths_), recv_buf(in_));
    const double* next = in_.data();
    for (const side& s : sides_)
      for (int k = 0; k < s.length; ++k) u[s.outside + k * s.stride] = *next++;
  }

 private:
  struct side {
    int inside, outside, stride, length;
  };
  void add(int neighbor, side s) {
    neighbors_.push_back(neighbor);
    lengths_.push_back(s.length);
    sides_.push_back(s);
  }
  std::vector<int> neighbors_, lengths_;
  std::vector<side> sides_;
  field out_, in_;
  std::optional<graph_communicator> grid_;
};
// end

field iterate(communicator& world, const tile& t, int steps) {
  field u = cold_plate(t), v = u;
  halo borders(world, t);
  for (int k = 0; k < steps; ++k) {
    borders.exchange(u);
    step(t, u, v);
    u.swap(v);
  }
  return u;
}

/// The whole plate, computed serially.
field oracle(int n, int steps) {
  const tile all(n, 1, 0);
  field u = cold_plate(all), v = u;
  for (int k = 0; k < steps; ++k) {
    step(all, u, v);
    u.swap(v);
  }
  return u;
}

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "stencil", [](communicator& world) {
    const int n = 40, steps = 100;
    const tile all(n, 1, 0), mine(n, world.size(), world.rank());
    const field right = oracle(n, steps), found = iterate(world, mine, steps);
    bool same = true;
    for (int i = 1; i <= mine.height; ++i)
      for (int j = 1; j <= mine.width; ++j)
        same = same && found[mine.place(i, j)] == right[all.place(mine.top + i, mine.left + j)];
    return same;
  });
}
