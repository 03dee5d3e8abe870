// SPDX-License-Identifier: Apache-2.0
//
// Scatter and gather by ownership.
#include "tasks/flow.hpp"
#include "tasks/nodes.hpp"

namespace tutti::tasks {

void flow::scatter(datum* const* data, std::size_t n, int root) {
  check_rank("scatter", "root", root);
  for (std::size_t i = 0; i < n; ++i)
    if (rank_ == root && data[i] != nullptr && data[i]->owner != root && !data[i]->readable &&
        data[i]->home != rank_)
      refuse("scatter", "handles", "have " + name_of(*data[i]) + ", of which the root has no contents",
             "register its memory there");
  for (std::size_t i = 0; i < n; ++i) {
    if (data[i] == nullptr) continue;
    datum& d = *data[i];
    close_reduction(d);
    // What stands at the root is what counts.
    if (d.home != root) {
      if (rank_ == d.home) forget_copies_of_others(d);
      if (rank_ == root && d.taken.kept) taken_[static_cast<std::size_t>(d.taken.there)].remove(d.taken);
      if (rank_ != root) invalidate(d);
      d.home = root;
    } else if (rank_ != root && rank_ != d.owner) {
      invalidate(d);
    } else if (rank_ == root) {
      for (auto& one : d.neighbours)
        if (one->given.kept && one->rank != d.owner)
          given_[static_cast<std::size_t>(one->rank)].remove(one->given);
    }
    settle(d, false);
  }
  free_evicted(nullptr);
}

void flow::gather(datum* const* data, std::size_t n, int root) {
  check_rank("gather", "root", root);
  for (std::size_t i = 0; i < n; ++i) {
    if (data[i] == nullptr) {
      if (rank_ == root)
        refuse("gather", "handles", "have an empty one at the root", "make all of the data on the root");
      continue;
    }
    settle(*data[i], false);
    bring(*data[i], root);
  }
}

void flow::handle_pack(std::unique_ptr<arrival>) {}

}  // namespace tutti::tasks
