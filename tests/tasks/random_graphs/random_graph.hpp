// SPDX-License-Identifier: Apache-2.0
//
// A random task program as a list of steps, the same on all ranks. The steps create and remove
// data, insert tasks that use them, and make all other calls of a runtime. Each step lists the
// ranks that it concerns; all other ranks may omit it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "random_graphs/shapes.hpp"

namespace graphs {

enum class step_kind : std::uint8_t {
  create,     // `object`
  task,       // `work`
  fetch,      // `object` to `rank`
  acquire,    // `rank` has an up-to-date copy of `object`, and acquires it
  change,     // the owner of `object` acquires and changes it; then copies are flushed
  transfer,   // explicitly from `object`'s owner to the owner of `other`, whose copies are flushed
  set_owner,  // of `object`, to `rank`
  scatter,    // `list`, from `rank`
  gather,     // `list`, to `rank`
  cache,      // `on`
  flush,      // `object`
  flush_all,
  wait_all,  // on the ranks concerned
  barrier,
  progress,  // on the ranks concerned
  remove     // `object`
};

enum class placement_kind : std::uint8_t { none, on, on_owner, on_after };

/// A task: `shape` is an index in the table of shapes, and `data` are its arguments.
struct work {
  std::size_t shape = 0;
  std::vector<int> data;
  placement_kind placement = placement_kind::none;
  int runs = 0;                 // the rank; -1: each rank that inserts it
  int owner_of = 0;             // with on_owner
  std::uint64_t salt = 0;       // makes the values of this task unique
  std::uint64_t waits_for = 0;  // the tag, with on_after: a transfer just before unlocks it
};

struct step {
  step_kind kind = step_kind::task;
  int object = -1, other = -1, rank = 0;
  bool on = false;
  std::uint64_t salt = 0;     // of change
  int tag = 0;                // of a transfer
  std::uint64_t unlocks = 0;  // by transfer
  graphs::work work{};
  std::vector<int> list{};
  std::vector<char> concerned{};  // by rank
};

struct object_shape {
  type of = type::number;
  std::size_t count = 1;
  int owner = 0;                 // at creation
  long tag = -1;                 // below 0: without a tag
  int contents_at = -1;          // a rank that is not the owner and scatters the first contents
  std::vector<char> own_memory;  // by rank: memory of the program
  std::vector<char> known;       // by rank: whether it creates the handle
  std::uint64_t salt = 0;        // of the first contents, if they are in the program's memory

  std::size_t bytes() const { return count * size_of(of); }
};

enum class omission : std::uint8_t { nothing, all, some };

struct graph {
  tutti::tasks::options how;
  omission omitted = omission::nothing;  // what ranks that are not concerned omit
  std::vector<object_shape> data;
  std::vector<step> steps;
};

/// Draws the program of this seed for p ranks, with at most about `max_tasks` tasks. `workers`: 0
/// draws 1 or 3.
graph draw(std::uint64_t seed, int p, int max_tasks, int workers);

/// Describes what the program does with the data up to this step, and which ranks are concerned.
std::string history(const graph& g, int object, std::size_t last);

/// Runs the program on one rank beside a serial run, and checks everything that the rank can see.
void run_and_compare(const graph& g, const tutti::communicator& world, std::uint64_t seed);

}  // namespace graphs
