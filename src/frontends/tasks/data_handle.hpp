// SPDX-License-Identifier: Apache-2.0
//
// What a rank knows of a datum: who owns it, where its contents stand here, which of its nodes come next, and
// which ranks have copies. All of it follows from the order of insertion, so ranks that insert the same tasks
// know the same without a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "frontends/tasks/data_memory.hpp"
#include "frontends/tasks/graph_messages.hpp"
#include "frontends/tasks/graph_node.hpp"
#include "tutti/detail/tasks_abi.hpp"

namespace tutti::tasks {

class receive_node;
class send_node;
struct arrival;
struct partial;
struct collection;

/// A copy that one rank keeps of another's datum, as either of them has it in its list of these, the longest
/// unused first: the lists of both hold the same.
struct kept_copy {
  data_handle* of = nullptr;
  int there = 0;  // the other rank
  kept_copy *before = nullptr, *behind = nullptr;
  bool kept = false;
};

/// Somebody collects.
struct demand {
  int from = 0, home = 0;
  std::uint32_t token = 0;
  std::uint32_t index = 0, count = 0;
  std::vector<forwarding> further;
};

/// What is known of another rank with a datum. Stays where it is.
struct neighbour {
  int rank = 0;
  std::uint32_t sent = 0,
                received = 0;  // transfers of this datum to and from there, in the order of insertion
  std::uint32_t explicit_transfer = 0,
                answered = 0;  // how often contributions were collected from there, and for there
  kept_copy given;             // kept: it has an up-to-date copy
};

struct data_handle {
  explicit data_handle(const task_graph& f);
  const task_graph& of;
  ~data_handle();
  std::int64_t number = 0;  // below 0: -1 - tag
  extent form;
  std::size_t bytes = 0;
  int owner = 0;
  int home = 0;  // the rank where the contents stand for certain: the owner, unless it has just become that
  contents* here = nullptr;       // on this rank; null: nothing
  bool fixed = false;             // they are written in place, and not anew
  bool readable = false;          // they are something, once the nodes before are over
  node_ref writer;                // makes `here`
  std::vector<node_ref> readers;  // of it, where it is fixed
  node_ref sending;               // a send of it that has not begun: more ranks may join
  kept_copy taken;                // kept: `here` is an up-to-date copy of what `home` has
  std::vector<std::unique_ptr<neighbour>> neighbours;
  std::vector<receive_node*> expected;          // transfers that have not come
  std::vector<std::unique_ptr<arrival>> early;  // transfers that nobody has asked for yet
  std::vector<std::unique_ptr<partial>>
      partials;                      // what this rank has contributed elsewhere; the last may go on
  std::vector<demand> demands;       // for these
  std::unique_ptr<collection> open;  // at home: a reduction that goes on

  neighbour& with(int rank) {
    for (auto& n : neighbours)
      if (n->rank == rank) return *n;
    auto made = std::make_unique<neighbour>();
    made->rank = rank;
    made->given.of = this;
    made->given.there = rank;
    neighbours.push_back(std::move(made));
    return *neighbours.back();
  }
};

/// Copies of one pair of ranks in the order of use.
class copy_list {
 public:
  std::size_t bytes() const noexcept { return bytes_; }
  kept_copy* oldest() const noexcept { return first_; }
  void add(kept_copy& c) noexcept {
    c.kept = true;
    c.before = last_;
    c.behind = nullptr;
    (last_ != nullptr ? last_->behind : first_) = &c;
    last_ = &c;
    bytes_ += c.of->bytes;
  }
  void remove(kept_copy& c) noexcept {
    (c.before != nullptr ? c.before->behind : first_) = c.behind;
    (c.behind != nullptr ? c.behind->before : last_) = c.before;
    c.kept = false;
    bytes_ -= c.of->bytes;
  }
  void use(kept_copy& c) noexcept {
    if (&c == last_) return;
    remove(c);
    add(c);
  }

 private:
  kept_copy *first_ = nullptr, *last_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tutti::tasks
