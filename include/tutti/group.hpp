// SPDX-License-Identifier: Apache-2.0
//
// Groups that take constant memory: chain, ring, logchain, logring. A member records the size of
// the group, its own rank in it, and the addresses of a few other members. An address is a rank of
// a parent communicator. No member stores a list of all members. Groups are values: programs
// create, copy and destroy them freely, and only operations that say so send messages. Their splits
// are scans over neighbors, so a program can make new groups at each step.
//
// A group refers to its parent communicator, which must outlive it. The parent knows all its ranks:
// a communicator over a structure cannot be a parent (split(0) of it can). All members of the group
// call a collective operation. Two members of several groups call the operations of these groups in
// the same order. Their messages match neither the program's own messages nor those of collectives.
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
#include <source_location>
#include <span>
#include <type_traits>

#include "tutti/communicator.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/structure.hpp"

TUTTI_API_BEGIN
namespace tutti {

class ring;
class logchain;
class logring;

namespace detail {

inline const neighbors& nearest_of(const neighbors& all) noexcept { return all; }
inline const neighbors& nearest_of(const hops& all) noexcept { return all.all; }

/// The members that all four structures have.
template <class Known>
class structure {
 public:
  int size() const noexcept { return nearest().size; }        ///< members; 0 if in no group
  int rank() const noexcept { return nearest().rank; }        ///< of the caller, 0 .. size() - 1
  int address() const noexcept { return nearest().address; }  ///< of the caller in the parent
  bool empty() const noexcept { return size() == 0; }
  int left() const noexcept { return nearest().left; }    ///< address of rank - 1
  int right() const noexcept { return nearest().right; }  ///< address of rank + 1

  const neighbors& nearest() const noexcept { return nearest_of(all_); }  ///< for the library
  const Known& known() const noexcept { return all_; }                    ///< for the library

 protected:
  explicit structure(const Known& all) noexcept : all_(all) {}
  /// The scope of a collective of several steps.
  enclosing_call scope(const char* operation, const std::source_location& at) const noexcept {
    return {nearest().parent, operation, at};
  }
  Known all_;
};

/// A structure whose members also know the members 2^d hops away.
class log_structure : public structure<hops> {
 public:
  using structure::left, structure::right;
  /// The number of recorded distances: ceil(log2(size())).
  int distances() const noexcept { return detail::distances(size()); }
  /// Address of the member 2^d hops away, for 0 <= d < distances(); rank::null for every other d.
  int left(int d) const noexcept { return d < 0 || d >= distances() ? tutti::rank::null : all_.left[d]; }
  int right(int d) const noexcept { return d < 0 || d >= distances() ? tutti::rank::null : all_.right[d]; }

 protected:
  using structure::structure;
};

}  // namespace detail

/// Each member knows the one before it and the one behind it; beyond the ends the address is
/// rank::null. 32 bytes.
class chain : public detail::structure<detail::neighbors> {
 public:
  /// Local: all ranks of the parent.
  explicit chain(const communicator& parent)
      : structure(detail::neighbors_in(detail::impl_of(parent), false)) {}
  /// Local. The members of `ranks`, which are ranks of the parent, call it with the same list.
  /// O(size) time. Throws usage_error if the list has an invalid rank, has one twice, or lacks the
  /// caller.
  chain(const communicator& parent, std::span<const int> ranks)
      : structure(detail::neighbors_in(detail::impl_of(parent), false, ranks)) {}
  /// The same, with ranks in braces.
  chain(const communicator& parent, std::initializer_list<int> ranks)
      : chain(parent, std::span<const int>(ranks.begin(), ranks.size())) {}
  chain(const chain&) noexcept = default;
  explicit chain(const ring& from) noexcept;      ///< local
  explicit chain(const logchain& from) noexcept;  ///< local
  explicit chain(const logring& from) noexcept;   ///< local
  /// For the library.
  explicit chain(const detail::neighbors& all) noexcept : structure(all) {}

  /// Collective: a chain of the members of the same color, in the order of keys. Members with
  /// equal keys keep the order of ranks. A color below 0 (tutti::colors::undefined) gives an empty
  /// chain. ceil(log2(size)) rounds; O(size) memory while it runs.
  ///
  /// ```cpp
  /// chain odd = chain(world).split(world.rank() % 2 == 1 ? 0 : colors::undefined);
  /// assert(odd.empty() == (world.rank() % 2 == 0));
  /// ```
  chain split(int color, int key = 0, std::source_location at = std::source_location::current()) const {
    const auto call = scope("chain::split", at);
    return chain(detail::split(all_, false, color, key));
  }
  /// Collective: a chain of the members of the same bin, in their order. A bin below 0 gives an
  /// empty chain. ceil(log2(size)) rounds of 12 bytes per bin. Throws usage_error on a rank whose
  /// bin does not exist; the other ranks block.
  chain split_bin(int bins, int bin, std::source_location at = std::source_location::current()) const {
    const auto call = scope("chain::split_bin", at);
    return chain(detail::split_bin(all_, false, bins, bin));
  }
};

/// The same as chain, but the last member precedes the first one. 32 bytes.
class ring : public detail::structure<detail::neighbors> {
 public:
  /// Local: all ranks of the parent.
  explicit ring(const communicator& parent)
      : structure(detail::neighbors_in(detail::impl_of(parent), true)) {}
  /// Local; the same contract as for chain.
  ring(const communicator& parent, std::span<const int> ranks)
      : structure(detail::neighbors_in(detail::impl_of(parent), true, ranks)) {}
  /// The same, with ranks in braces.
  ring(const communicator& parent, std::initializer_list<int> ranks)
      : ring(parent, std::span<const int>(ranks.begin(), ranks.size())) {}
  /// Collective: its ends meet.
  explicit ring(const chain& from, std::source_location at = std::source_location::current())
      : structure(detail::close_chain(from.nearest(), at)) {}
  /// Collective, like the one of a chain.
  explicit ring(const logchain& from, std::source_location at = std::source_location::current());
  explicit ring(const logring& from) noexcept;  ///< local
  /// For the library.
  explicit ring(const detail::neighbors& all) noexcept : structure(all) {}

  /// As for chain.
  ring split(int color, int key = 0, std::source_location at = std::source_location::current()) const {
    const auto call = scope("ring::split", at);
    return ring(detail::split(all_, true, color, key));
  }
  /// As for chain.
  ring split_bin(int bins, int bin, std::source_location at = std::source_location::current()) const {
    const auto call = scope("ring::split_bin", at);
    return ring(detail::split_bin(all_, true, bins, bin));
  }
};

/// A chain whose members also know those 2^d hops away, d = 0 .. ceil(log2(size())) - 1. Beyond the
/// ends the address is rank::null. 280 bytes.
///
/// ```cpp
/// logchain all(world);
/// assert(all.right(1) == (world.rank() + 2 < world.size() ? world.rank() + 2 : rank::null));
/// ```
class logchain : public detail::log_structure {
 public:
  /// Local: all ranks of the parent.
  explicit logchain(const communicator& parent)
      : log_structure(detail::hops_in(detail::impl_of(parent), false)) {}
  /// Collective: ceil(log2(size)) rounds.
  explicit logchain(const chain& from, std::source_location at = std::source_location::current())
      : log_structure(detail::hops_of(from.nearest(), false, at)) {}
  explicit logchain(const ring& from, std::source_location at = std::source_location::current())
      : logchain(chain(from), at) {}
  explicit logchain(const logring& from) noexcept;  ///< local

  /// The splits of chain, followed by as many rounds again.
  logchain split(int color, int key = 0, std::source_location at = std::source_location::current()) const {
    const auto call = scope("logchain::split", at);
    return logchain(chain(nearest()).split(color, key));
  }
  logchain split_bin(int bins, int bin, std::source_location at = std::source_location::current()) const {
    const auto call = scope("logchain::split_bin", at);
    return logchain(chain(nearest()).split_bin(bins, bin));
  }
};

/// A ring whose members also know those 2^d hops away. 280 bytes.
class logring : public detail::log_structure {
 public:
  /// Local: all ranks of the parent.
  explicit logring(const communicator& parent)
      : log_structure(detail::hops_in(detail::impl_of(parent), true)) {}
  /// Collective: ceil(log2(size)) rounds.
  explicit logring(const ring& from, std::source_location at = std::source_location::current())
      : log_structure(detail::hops_of(from.nearest(), true, at)) {}
  explicit logring(const chain& from, std::source_location at = std::source_location::current())
      : log_structure(hops_of(from, at)) {}
  explicit logring(const logchain& from, std::source_location at = std::source_location::current())
      : logring(chain(from), at) {}

  /// The same as for logchain.
  logring split(int color, int key = 0, std::source_location at = std::source_location::current()) const {
    const auto call = scope("logring::split", at);
    return logring(ring(nearest()).split(color, key));
  }
  /// The same as for logchain.
  logring split_bin(int bins, int bin, std::source_location at = std::source_location::current()) const {
    const auto call = scope("logring::split_bin", at);
    return logring(ring(nearest()).split_bin(bins, bin));
  }

 private:
  static detail::hops hops_of(const chain& from, const std::source_location& at) {
    const detail::enclosing_call call(from.nearest().parent, "logring", at);
    return detail::hops_of(detail::close_chain(from.nearest(), at), true, at);
  }
};

inline chain::chain(const ring& from) noexcept : structure(detail::open_ring(from.nearest())) {}
inline chain::chain(const logchain& from) noexcept : structure(from.nearest()) {}
inline chain::chain(const logring& from) noexcept : structure(detail::open_ring(from.nearest())) {}
inline ring::ring(const logchain& from, std::source_location at) : ring(chain(from), at) {}
inline ring::ring(const logring& from) noexcept : structure(from.nearest()) {}
inline logchain::logchain(const logring& from) noexcept : log_structure(detail::open_ring(from.known())) {}

template <class Structure>
communicator communicator::over(const Structure& members, std::source_location at) const {
  constexpr bool wraps = std::is_same_v<Structure, ring> || std::is_same_v<Structure, logring>;
  return communicator(detail::over(noted(at), members.known(), wraps));
}

}  // namespace tutti
TUTTI_API_END
