// SPDX-License-Identifier: Apache-2.0
//
// Selection contexts for tests, made with agreed_part() in the same way as by the library.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "selection/conditions.hpp"
#include "selection/tree.hpp"

namespace tutti::detail {

inline bool has_inter_form(collective what) {
  return what != collective::scan && what != collective::exscan && !is_neighborhood(what);
}
inline bool may_be_in_place(collective what) {
  return what != collective::barrier && what != collective::bcast && !is_neighborhood(what);
}

inline selection_context make_selection_context(collective what, int ranks, std::size_t count,
                                                std::size_t size, bool in_place, builtin_op op,
                                                bool commutative, bool inter, bool native, bool shared) {
  call c;
  c.what = what;
  c.count = count;
  c.type.size = size;
  c.in_place = in_place && may_be_in_place(what);
  if (combines(what)) {
    c.op.which = op;
    c.op.commutative = commutative || op != builtin_op::user;
  }
  selection_context s;
  s.call = agreed_part(c, ranks, inter && has_inter_form(what));
  s.native = native && !s.call.inter;
  s.shared_memory = shared;
  s.ranks_per_node = ranks;
  return s;
}

/// Calls `try_one` with every selection context of a large grid.
template <class F>
void for_each_selection_context(F&& try_one) {
  static constexpr int some_ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64};
  static constexpr std::size_t counts[] = {0,    1,    2,    5,    6,    7,     8,     16,    17,
                                           32,   33,   63,   64,   65,   127,   128,   129,   255,
                                           256,  257,  511,  512,  513,  1023,  1024,  1025,  4095,
                                           4096, 4097, 8191, 8192, 8193, 32768, 65536, 65537, 1 << 20};
  static constexpr std::pair<builtin_op, bool> operators[] = {
      {builtin_op::sum, true}, {builtin_op::user, true}, {builtin_op::user, false}};
  for (std::size_t c = 0; c < collective_names.size(); ++c)
    for (const int ranks : some_ranks)
      for (const std::size_t count : counts)
        for (const std::size_t size : {std::size_t{1}, std::size_t{8}})
          for (const auto& [op, commutative] : operators)
            for (int bits = 0; bits < 8; ++bits)
              try_one(make_selection_context(static_cast<collective>(c), ranks, count, size, (bits & 1) != 0,
                                             op, commutative, (bits & 2) != 0, (bits & 4) != 0, true));
}

/// True if the leaf belongs to this half and serves the call. Every valid document guarantees this.
inline bool serves(const leaf& l, const selection_context& s, tree_half half = tree_half::pure) {
  const bool pure = l.what == leaf::kind::native || l.what == leaf::kind::algorithm;
  return pure == (half == tree_half::pure) && permits(l, s);
}

/// Returns the call with another topology and other conditions of the engine, depending on `bits`.
inline selection_context varied(selection_context s, unsigned bits) {
  static constexpr struct {
    int nodes, each;
    bool consecutive;
  } layouts[] = {{1, 0, true}, {2, 0, true}, {2, 0, false}, {3, 2, true}, {3, 2, false}, {4, 1, true}};
  const auto& l = layouts[bits % std::size(layouts)];
  s.nodes = l.nodes;
  s.ranks_per_node = l.nodes == 1 ? s.call.ranks : l.each;
  s.node_consecutive = l.consecutive;
  s.whole_job = (bits & 64) == 0;
  s.engine = bits >> 7 & 7;
  return s;
}

}  // namespace tutti::detail
