// SPDX-License-Identifier: Apache-2.0
//
// KaMPIng's Communicator over tutti: an MPI communicator, and tutti's communicator over it.
#pragma once

#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tutti/kamping/calls.hpp"
#include "tutti/kamping/environment.hpp"
#include "tutti/kamping/group.hpp"
#include "tutti/same.hpp"

namespace kamping {

enum class CommunicatorComparisonResult { identical, congruent, similar, unequal };

namespace internal {

/// Frees an MPI communicator with the last Communicator that refers to it.
struct owned_communicator {
  MPI_Comm native;
  explicit owned_communicator(MPI_Comm comm) : native(comm) {}
  owned_communicator(const owned_communicator&) = delete;
  owned_communicator& operator=(const owned_communicator&) = delete;
  ~owned_communicator() {
    int over = 0;
    if (native != MPI_COMM_NULL && MPI_Finalized(&over) == MPI_SUCCESS && over == 0) MPI_Comm_free(&native);
  }
};

}  // namespace internal

/// All ranks of an MPI communicator, with every operation of KaMPIng. Container is the type of
/// receive buffers that calls make. Plugins are bases that add calls (plugins.hpp).
///
/// The first wrap of an MPI communicator is collective, later ones are local. The construction of
/// an Environment wraps the world. A copy is cheap and local, and shares its messages with the
/// original; KaMPIng makes a duplicate. For separate messages pass the result of MPI_Comm_dup:
/// `Communicator(dup, true)`.
template <template <class...> class Container = std::vector,
          template <class, template <class...> class> class... Plugins>
class Communicator : public internal::calls<Communicator<Container, Plugins...>, Container>,
                     public Plugins<Communicator<Container, Plugins...>, Container>... {
 public:
  template <class T>
  using default_container_type = Container<T>;

  Communicator() : Communicator(MPI_COMM_WORLD) {}
  explicit Communicator(MPI_Comm comm, bool take_ownership = false) : native_(comm) {
    if (take_ownership) owned_ = std::make_shared<internal::owned_communicator>(comm);
    if (comm != MPI_COMM_NULL) ranks_ = internal::adopted(comm);
  }
  Communicator(MPI_Comm comm, int root, bool take_ownership = false) : Communicator(comm, take_ownership) {
    this->root(root);
  }
  // Converts a communicator with other plugins, which share only the ranks.
  template <template <class...> class C, template <class, template <class...> class> class... P>
  explicit Communicator(const Communicator<C, P...>& other)
      : native_(other.mpi_communicator()), owned_(other.owner()) {
    if (native_ != MPI_COMM_NULL) ranks_ = other.tutti_communicator();
  }

  int rank_signed() const { return ranks_ ? ranks_->rank() : MPI_UNDEFINED; }
  std::size_t rank() const { return static_cast<std::size_t>(rank_signed()); }
  int size_signed() const { return ranks_ ? ranks_->size() : 0; }
  std::size_t size() const { return static_cast<std::size_t>(size_signed()); }

  MPI_Comm mpi_communicator() const noexcept { return native_; }
  /// Releases ownership: the caller must free the MPI communicator.
  MPI_Comm disown_mpi_communicator() {
    if (owned_) owned_->native = MPI_COMM_NULL;
    return native_;
  }
  /// The communicator of tutti that executes the calls, for tutti's own functions on the same
  /// ranks.
  const tutti::communicator& tutti_communicator() const {
    if (!ranks_) throw MpiErrorException("a call on MPI_COMM_NULL", MPI_ERR_COMM);
    return *ranks_;
  }
  const std::shared_ptr<internal::owned_communicator>& owner() const noexcept { return owned_; }

  // --- defaults, of this object and its later copies
  void root(std::integral auto rank) {
    internal::translating([&] { ranks().default_root(static_cast<int>(rank)); });
  }
  std::size_t root() const { return static_cast<std::size_t>(root_signed()); }
  int root_signed() const { return tutti_communicator().default_root(); }
  bool is_root() const { return rank_signed() == root_signed(); }
  bool is_root(std::integral auto rank) const { return rank_signed() == static_cast<int>(rank); }
  void default_tag(int tag) {
    internal::translating([&] { ranks().default_tag(tag); });
  }
  int default_tag() const { return tutti_communicator().default_tag(); }

  // --- ranks
  bool is_valid_rank(std::integral auto rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < size();
  }
  std::size_t rank_shifted_cyclic(int distance) const {
    const int p = size_signed();
    return static_cast<std::size_t>(((rank_signed() + distance % p) % p + p) % p);
  }
  /// Throws MpiErrorException if there is no such rank.
  std::size_t rank_shifted_checked(int distance) const {
    const int shifted = rank_signed() + distance;
    if (!is_valid_rank(shifted)) throw MpiErrorException("rank_shifted_checked: no such rank", MPI_ERR_RANK);
    return static_cast<std::size_t>(shifted);
  }
  /// Translates `rank` of this communicator to `other`, and the other way round. Returns
  /// MPI_UNDEFINED if there is none.
  template <class Other>
  int convert_rank_to_communicator(std::integral auto rank, const Other& other) const {
    return Group(*this).translate(static_cast<int>(rank), Group(other));
  }
  template <class Other>
  int convert_rank_from_communicator(std::integral auto rank, const Other& other) const {
    return Group(other).translate(static_cast<int>(rank), Group(*this));
  }
  /// The number of nodes that have ranks. Collective, like KaMPIng's.
  std::size_t num_numa_nodes() const {
    const Communicator node = split_to_shared_memory();
    return static_cast<std::size_t>(tutti_communicator().allreduce_single(
        tutti::send_buf(node.rank() == 0 ? 1 : 0), tutti::op(std::plus<>{})));
  }
  std::string processor_name() const {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    internal::check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
    return std::string(name, static_cast<std::size_t>(length));
  }

  // --- other communicators; collective

  // The ranks with the same color in the order of keys. MPI_UNDEFINED gives an empty one, over
  // MPI_COMM_NULL.
  [[nodiscard]] Communicator split(int color, int key = 0) const {
    MPI_Comm made = MPI_COMM_NULL;
    internal::check_mpi(MPI_Comm_split(native_, color, key, &made), "MPI_Comm_split");
    return Communicator(made, true);
  }
  /// Splits by MPI_COMM_TYPE_SHARED and other types of MPI.
  [[nodiscard]] Communicator split_by_type(int type) const {
    MPI_Comm made = MPI_COMM_NULL;
    internal::check_mpi(MPI_Comm_split_type(native_, type, rank_signed(), MPI_INFO_NULL, &made),
                        "MPI_Comm_split_type");
    return Communicator(made, true);
  }
  [[nodiscard]] Communicator split_to_shared_memory() const { return split_by_type(MPI_COMM_TYPE_SHARED); }
  /// The ranks of a list, or of ranges, in their order; the ranks of each part call it with their
  /// own list.
  template <class Ranks>
  [[nodiscard]] Communicator create_subcommunicators(const Ranks& ranks_in_own_group) const {
    std::vector<int> list;
    for (const auto rank : ranks_in_own_group) list.push_back(static_cast<int>(rank));
    return from_group(Group(*this).include(list));
  }
  [[nodiscard]] Communicator create_subcommunicators(const RankRanges& ranges) const {
    return from_group(Group(*this).include(ranges.ranks()));
  }

  CommunicatorComparisonResult compare(const Communicator& other) const {
    int result = MPI_UNEQUAL;
    internal::check_mpi(MPI_Comm_compare(native_, other.native_, &result), "MPI_Comm_compare");
    using enum CommunicatorComparisonResult;
    return result == MPI_IDENT       ? identical
           : result == MPI_CONGRUENT ? congruent
           : result == MPI_SIMILAR   ? similar
                                     : unequal;
  }
  void swap(Communicator& other) noexcept { std::swap(*this, other); }
  void abort(int code = 1) const { MPI_Abort(native_, code); }

  /// Whether all ranks pass equal values (same.hpp).
  template <class Value>
  bool is_same_on_all_ranks(const Value& value,
                            std::source_location at = std::source_location::current()) const {
    return internal::translating(
        [&] { return tutti::is_same_on_all_ranks(tutti_communicator(), value, at); });
  }

 private:
  tutti::communicator& ranks() {
    (void)tutti_communicator();
    return *ranks_;
  }
  Communicator from_group(const Group& group) const {
    MPI_Comm made = MPI_COMM_NULL;
    internal::check_mpi(MPI_Comm_create_group(native_, group.mpi_group(), 0, &made), "MPI_Comm_create_group");
    return Communicator(made, true);
  }

  MPI_Comm native_;
  std::shared_ptr<internal::owned_communicator> owned_;
  std::optional<tutti::communicator> ranks_;
};

using BasicCommunicator = Communicator<>;

/// All ranks of the job. The result lives as long as the process, and must not be used after MPI is
/// finalized.
inline const BasicCommunicator& comm_world() {
  static const BasicCommunicator world;
  return world;
}
inline std::size_t world_rank() { return comm_world().rank(); }
inline int world_rank_signed() { return comm_world().rank_signed(); }
inline std::size_t world_size() { return comm_world().size(); }
inline int world_size_signed() { return comm_world().size_signed(); }

}  // namespace kamping
