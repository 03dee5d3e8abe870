// SPDX-License-Identifier: Apache-2.0
//
// One collective call on one process: its memory between canaries, the call, and the expected
// contents. It also checks processes that are no members, and areas that must stay unchanged by
// LPF's documents.
#pragma once

#include <memory>

#include "lpf/collectives.h"
#include "suite.hpp"

namespace suite {

enum class kind { broadcast, gather, scatter, allgather, alltoall, reduce, allreduce, combine, allcombine };
inline constexpr kind kinds[] = {kind::broadcast, kind::gather,   kind::scatter,
                                 kind::allgather, kind::alltoall, kind::reduce,
                                 kind::allreduce, kind::combine,  kind::allcombine};

inline bool is_rooted(kind k) {
  return k == kind::broadcast || k == kind::gather || k == kind::scatter || k == kind::reduce ||
         k == kind::combine;
}
inline bool combines(kind k) { return k >= kind::reduce; }

/// The state of an area that a call does not use.
enum class unused_area { full, empty, invalid };

struct shape {
  kind what = kind::broadcast;
  std::size_t size = 0, num = 1;
  unsigned root = 0;
  bool in_place = false;  ///< of an allgather: only on even members; sets exclude
  bool exclude = false;
  unused_area unused = unused_area::full;
  bool local = false;  ///< slots are local if the call permits it
};
std::string text_of(const shape& s);

/// A collectives object, and the index of this process among its members.
struct team {
  lpf_coll_t coll;
  unsigned size, rank;  ///< rank >= size: this process is no member
  bool member() const { return rank < size; }
};

class job {
 public:
  /// `text` distinguishes jobs that are in progress together.
  job(const process& me, const team& by, const shape& s, std::uint64_t text);
  job(const job&) = delete;
  /// Registers two slots, on all processes of the section, members or not.
  void register_slots();
  void deregister_slots();
  lpf_err_t call() const;
  /// Schedules the call, on a member.
  void begin() const {
    if (team_.member()) me_.needs(call(), text_of(shape_));
  }
  /// Checks the result after the sync. If `happened` is false, the call must have had no effect.
  void verify(bool happened = true);

 private:
  bool at_root() const { return !is_rooted(shape_.what) || team_.rank == shape_.root; }
  void fill_buffers();
  void register_area(guarded& area, bool accessed, bool may_be_local, lpf_memslot_t& slot, std::size_t offset,
                     std::size_t size);
  void expect();
  void expect_blocks();
  void expect_combined();

  const process& me_;
  team team_;
  shape shape_;
  std::uint64_t text_;
  guarded src_, dst_;
  bytes src_before_, dst_before_, src_after_, dst_after_;
  bool undefined_ = false;  // whether the contents of src afterwards are undefined
  lpf_memslot_t src_slot_, dst_slot_;
  bool src_registered_ = false, dst_registered_ = false;
};

/// The element sizes that have combiners. Those of size 24 check that elements are valid.
inline constexpr std::size_t element_sizes[] = {1, 3, 8, 24, 1000};

/// Sets the maximum number of elements in a call of a combiner. Call it between two syncs, without
/// collectives, with the same value on all processes.
void combine_at_most(std::size_t n);

/// Runs each call in a separate superstep, or all in one.
void one_by_one(const process& me, const team& by, const std::vector<shape>& all);
void all_at_once(const process& me, const team& by, const std::vector<shape>& all);

/// Makes an object over all processes, or over some. All processes call it, and use it after the
/// next sync.
team make_team(const process& me, std::size_t calls, std::size_t element, std::size_t max_bytes);
team make_team(const process& me, unsigned lo, unsigned hi, unsigned str, std::size_t calls,
               std::size_t element, std::size_t max_bytes);
void end_team(const process& me, const team& by);

}  // namespace suite
