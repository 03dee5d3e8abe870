// SPDX-License-Identifier: Apache-2.0
//
// Describes the history of a data object, for error reports.
#include <algorithm>

#include "random_graphs/random_graph.hpp"

namespace graphs {
namespace {

std::string of_ranks(const std::vector<char>& ranks) {
  std::string text;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (ranks[r]) text += (text.empty() ? "" : ",") + std::to_string(r);
  return " {" + text + "}";
}

std::string line(const graph& g, const step& s, int d) {
  using tutti::tasks::use_mode;
  const std::string to = " " + std::to_string(s.rank);
  switch (s.kind) {
    case step_kind::create: {
      const object_shape& shape = g.data[static_cast<std::size_t>(d)];
      return "made for " + std::to_string(shape.owner) + ", " + std::to_string(shape.bytes()) +
             " bytes, memory of the program's at" + of_ranks(shape.own_memory) +
             (shape.contents_at >= 0 ? ", contents at " + std::to_string(shape.contents_at) : "");
    }
    case step_kind::task: {
      std::string text = "task on " + std::to_string(s.work.runs);
      for (std::size_t i = 0; i < s.work.data.size(); ++i) {
        const use_mode how = shapes()[s.work.shape].how[i];
        text += how == use_mode::read         ? " r"
                : how == use_mode::write      ? " w"
                : how == use_mode::read_write ? " rw"
                                              : " +";
        text += std::to_string(s.work.data[i]);
      }
      return text + (s.work.placement == placement_kind::on_after ? " after a tag" : "");
    }
    case step_kind::fetch:
      return "fetch to" + to;
    case step_kind::acquire:
      return "acquired by" + to;
    case step_kind::change:
      return "changed by its owner";
    case step_kind::transfer:
      return s.object == d ? "sent to the owner of " + std::to_string(s.other)
                           : "received from the owner of " + std::to_string(s.object);
    case step_kind::set_owner:
      return "now owned by" + to;
    case step_kind::scatter:
      return "scatter from" + to;
    case step_kind::gather:
      return "gather to" + to;
    case step_kind::cache:
      return s.on ? "cache on" : "cache off";
    case step_kind::flush:
      return "flush";
    case step_kind::flush_all:
      return "flush of all";
    case step_kind::wait_all:
      return "wait_all";
    case step_kind::barrier:
      return "barrier";
    case step_kind::progress:
      return "progress";
    case step_kind::remove:
      return "removed";
  }
  return "";
}

}  // namespace

std::string history(const graph& g, int d, std::size_t last) {
  std::string text = "\n  data object " + std::to_string(d) +
                     (g.how.cache ? ", cache of " : ", no cache, but ") + std::to_string(g.how.cache_bytes) +
                     " bytes, " + std::to_string(g.how.workers) + " workers";
  for (std::size_t i = 0; i <= last && i < g.steps.size(); ++i) {
    const step& s = g.steps[i];
    const bool used = std::ranges::find(s.work.data, d) != s.work.data.end() ||
                      std::ranges::find(s.list, d) != s.list.end();
    const bool of_all =
        s.kind == step_kind::cache || s.kind == step_kind::flush_all || s.kind == step_kind::wait_all;
    if (used || of_all || s.object == d || s.other == d)
      text += "\n  " + std::to_string(i) + ": " + line(g, s, d) + of_ranks(s.concerned);
  }
  return text;
}

}  // namespace graphs
