// SPDX-License-Identifier: Apache-2.0
#include "tuning/peer_choice.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace tutti::tuning {
namespace {

constexpr std::array<std::string_view, 2> names = {"open_mpi", "mpich"};

selection selection_of(std::string_view name) {
  selection s;
  s.trees = std::make_shared<const document>(builtin_document("peers/" + std::string(name)));
  return s;
}

}  // namespace

std::span<const std::string_view> peer_mpi_names() noexcept { return names; }

std::string_view name_of(peer_mpi m) noexcept { return names[static_cast<std::size_t>(m)]; }

std::optional<peer_mpi> find_peer_mpi(std::string_view name) noexcept {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<peer_mpi>(at - names.begin());
}

const selection& peer_selection(peer_mpi m) {
  static const std::array<selection, names.size()> all = [] {
    std::array<selection, names.size()> made;
    std::transform(names.begin(), names.end(), made.begin(), selection_of);
    return made;
  }();
  return all[static_cast<std::size_t>(m)];
}

std::optional<peer_decision> peer_choice(peer_mpi m, const selection_context& s) {
  if (s.call.inter) return std::nullopt;
  const document& trees = *peer_selection(m).trees;
  peer_decision made;
  if (const leaf& composed = decide(trees, s, tree_half::composition); composed.what == leaf::kind::composed)
    made.composed = composed.composed;
  else
    made.pure = decide(trees, s, tree_half::pure).chosen;
  return made;
}

}  // namespace tutti::tuning
