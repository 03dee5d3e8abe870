// SPDX-License-Identifier: Apache-2.0
//
// Groups that cost a few words: chain, ring, logchain, logring. A member records the size of the group, its
// own rank in it, and the addresses (ranks of a parent communicator) of a few others; nothing of the length
// of the group. They are values: made, copied and dropped freely, with a message only where that is said.
// Splits of them are scans over neighbours, so a program can make other groups at each step.
//
// The parent is recorded as a plain handle: it must outlive them. It knows all its ranks: a communicator over
// a structure is no parent (split(0) of it is). What is said to be collective is called by all members of the
// group; of two members of several groups, in the same order. Their messages meet neither the program's own
// nor those of collectives.
//
// ```cpp
// #include <tutti/group.hpp>
// chain mine(world);
// while (mine.size() > 1) {  // down to groups of one
//   const int half = mine.rank() < mine.size() / 2 ? 0 : 1;
//   mine = mine.split_bin(2, half);
// }
// assert(mine.address() == world.rank() && mine.left() == rank::null);
// ```
#pragma once

#include <initializer_list>
#include <span>
#include <type_traits>

#include "tutti/communicator.hpp"
#include "tutti/core/structure.hpp"

namespace tutti {

class ring;
class logchain;
class logring;

namespace detail {

inline const neighbours& nearest_of(const neighbours& all) noexcept { return all; }
inline const neighbours& nearest_of(const hops& all) noexcept { return all.all; }

/// What all four have.
template <class Known>
class structure {
 public:
  int size() const noexcept { return nearest().size; }        ///< members; 0: the caller is in no group
  int rank() const noexcept { return nearest().rank; }        ///< of the caller, 0 .. size() - 1
  int address() const noexcept { return nearest().address; }  ///< of the caller: its rank in the parent
  bool empty() const noexcept { return size() == 0; }
  int left() const noexcept { return nearest().left; }    ///< address of rank - 1
  int right() const noexcept { return nearest().right; }  ///< address of rank + 1

  const neighbours& nearest() const noexcept { return nearest_of(all_); }  ///< for the library
  const Known& known() const noexcept { return all_; }                     ///< for the library

 protected:
  explicit structure(const Known& all) noexcept : all_(all) {}
  Known all_;
};

/// With those 2^d hops away.
class log_structure : public structure<hops> {
 public:
  using structure::left, structure::right;
  /// How many distances are recorded: ceil(log2(size())).
  int distances() const noexcept { return detail::distances(size()); }
  /// Address of the member 2^d hops away, 0 <= d < distances(); rank::null for every other d.
  int left(int d) const noexcept { return d < 0 || d >= distances() ? tutti::rank::null : all_.left[d]; }
  int right(int d) const noexcept { return d < 0 || d >= distances() ? tutti::rank::null : all_.right[d]; }

 protected:
  using structure::structure;
};

}  // namespace detail

/// Each member knows the one before it and the one behind it; at the ends there is rank::null. 32 bytes.
class chain : public detail::structure<detail::neighbours> {
 public:
  /// Local: all ranks of the parent.
  explicit chain(const communicator& parent) : structure(detail::neighbours_in(parent.native(), false)) {}
  /// Local, called by the members of `ranks`, ranks of the parent, with the same list; O(size) time. Throws
  /// usage_error where it has what is no rank, one twice, or not the caller.
  chain(const communicator& parent, std::span<const int> ranks)
      : structure(detail::neighbours_in(parent.native(), false, ranks)) {}
  /// The same, of ranks in braces.
  chain(const communicator& parent, std::initializer_list<int> ranks)
      : chain(parent, std::span<const int>(ranks.begin(), ranks.size())) {}
  chain(const chain&) noexcept = default;
  explicit chain(const ring& from) noexcept;      ///< local
  explicit chain(const logchain& from) noexcept;  ///< local
  explicit chain(const logring& from) noexcept;   ///< local
  /// For the library.
  explicit chain(const detail::neighbours& all) noexcept : structure(all) {}

  /// Collective: the members of the same colour, in the order of keys, of equal keys in that of ranks; an
  /// empty one for a colour below 0 (tutti::undefined). ceil(log2(size)) rounds; O(size) memory while it
  /// runs.
  ///
  /// ```cpp
  /// chain odd = chain(world).split(world.rank() % 2 == 1 ? 0 : undefined);
  /// assert(odd.empty() == (world.rank() % 2 == 0));
  /// ```
  chain split(int color, int key = 0) const { return chain(detail::split(all_, false, color, key)); }
  /// Collective: the members of the same bin, in their order; an empty one for a bin below 0.
  /// ceil(log2(size)) rounds of 12 bytes a bin. Throws usage_error where there is no such bin, on that rank
  /// alone: the others wait for it.
  chain split_bin(int bins, int bin) const { return chain(detail::split_bin(all_, false, bins, bin)); }
};

/// As chain, but the last member is before the first one. 32 bytes.
class ring : public detail::structure<detail::neighbours> {
 public:
  /// Local: all ranks of the parent.
  explicit ring(const communicator& parent) : structure(detail::neighbours_in(parent.native(), true)) {}
  /// Local, as of a chain.
  ring(const communicator& parent, std::span<const int> ranks)
      : structure(detail::neighbours_in(parent.native(), true, ranks)) {}
  /// The same, of ranks in braces.
  ring(const communicator& parent, std::initializer_list<int> ranks)
      : ring(parent, std::span<const int>(ranks.begin(), ranks.size())) {}
  explicit ring(const chain& from)
      : structure(detail::closed(from.nearest())) {}  ///< collective: its ends meet
  explicit ring(const logchain& from);                ///< collective, as of a chain
  explicit ring(const logring& from) noexcept;        ///< local
  /// For the library.
  explicit ring(const detail::neighbours& all) noexcept : structure(all) {}

  ring split(int color, int key = 0) const {
    return ring(detail::split(all_, true, color, key));
  }  ///< as chain's
  ring split_bin(int bins, int bin) const {
    return ring(detail::split_bin(all_, true, bins, bin));
  }  ///< as chain's
};

/// A chain whose members also know those 2^d hops away, d = 0 .. ceil(log2(size())) - 1; beyond the ends
/// there is rank::null. 280 bytes.
///
/// ```cpp
/// logchain all(world);
/// assert(all.right(1) == (world.rank() + 2 < world.size() ? world.rank() + 2 : rank::null));
/// ```
class logchain : public detail::log_structure {
 public:
  /// Local: all ranks of the parent.
  explicit logchain(const communicator& parent) : log_structure(detail::hops_in(parent.native(), false)) {}
  /// Collective: ceil(log2(size)) rounds.
  explicit logchain(const chain& from) : log_structure(detail::hops_of(from.nearest(), false)) {}
  explicit logchain(const ring& from) : logchain(chain(from)) {}
  explicit logchain(const logring& from) noexcept;  ///< local

  /// As chain's, and then as many rounds more.
  logchain split(int color, int key = 0) const { return logchain(chain(nearest()).split(color, key)); }
  logchain split_bin(int bins, int bin) const { return logchain(chain(nearest()).split_bin(bins, bin)); }
};

/// A ring whose members also know those 2^d hops away. 280 bytes.
class logring : public detail::log_structure {
 public:
  /// Local: all ranks of the parent.
  explicit logring(const communicator& parent) : log_structure(detail::hops_in(parent.native(), true)) {}
  /// Collective: ceil(log2(size)) rounds.
  explicit logring(const ring& from) : log_structure(detail::hops_of(from.nearest(), true)) {}
  explicit logring(const chain& from) : logring(ring(from)) {}
  explicit logring(const logchain& from) : logring(chain(from)) {}

  /// As logchain's.
  logring split(int color, int key = 0) const { return logring(ring(nearest()).split(color, key)); }
  /// As logchain's.
  logring split_bin(int bins, int bin) const { return logring(ring(nearest()).split_bin(bins, bin)); }
};

inline chain::chain(const ring& from) noexcept : structure(detail::opened(from.nearest())) {}
inline chain::chain(const logchain& from) noexcept : structure(from.nearest()) {}
inline chain::chain(const logring& from) noexcept : structure(detail::opened(from.nearest())) {}
inline ring::ring(const logchain& from) : ring(chain(from)) {}
inline ring::ring(const logring& from) noexcept : structure(from.nearest()) {}
inline logchain::logchain(const logring& from) noexcept : log_structure(detail::opened(from.known())) {}

template <class Structure>
communicator communicator::over(const Structure& members, std::source_location at) const {
  constexpr bool wraps = std::is_same_v<Structure, ring> || std::is_same_v<Structure, logring>;
  return communicator(detail::over(noted(at), members.known(), wraps));
}

}  // namespace tutti
