// SPDX-License-Identifier: Apache-2.0
//
// One call of a collective on one process: its memory between canaries, the call, and what must stand where
// afterwards, on members and on others, also where LPF's documents say that nothing is touched.
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

/// What an area is that a call does not touch.
enum class idle { full, empty, invalid };

struct shape {
  kind what = kind::broadcast;
  std::size_t size = 0, num = 1;
  unsigned root = 0;
  bool in_place = false;  ///< of an allgather: on members of even number, and then without the own block
  bool exclude = false;
  idle untouched = idle::full;
  bool local = false;  ///< slots are local where they may be
};
std::string text_of(const shape& s);

/// Who makes a collective, as one process knows it.
struct team {
  lpf_coll_t coll;
  unsigned size, place;  ///< place >= size: it is no member
  bool member() const { return place < size; }
};

class job {
 public:
  /// `text` tells jobs apart that are under way together.
  job(const process& me, const team& by, const shape& s, std::uint64_t text);
  job(const job&) = delete;
  /// Registers two slots; on all processes of the section, members or not.
  void enrol();
  void withdraw();
  lpf_err_t call() const;
  /// Schedules it, on a member.
  void begin() const {
    if (team_.member()) me_.needs(call(), text_of(shape_));
  }
  /// After the sync; `happened` false: it must have done nothing.
  void verify(bool happened = true);

 private:
  bool at_root() const { return !is_rooted(shape_.what) || team_.place == shape_.root; }
  void lay_out();
  void place_slot(guarded& area, bool touched, bool may_be_local, lpf_memslot_t& slot, std::size_t offset,
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
  bool undefined_ = false;  // what stands in src afterwards
  lpf_memslot_t src_slot_, dst_slot_;
  bool src_registered_ = false, dst_registered_ = false;
};

/// Sizes that there are combiners for; of 24 they check that elements are such.
inline constexpr std::size_t element_sizes[] = {1, 3, 8, 24, 1000};

/// How many elements a combiner may be called with at the most. To be set between two syncs, without
/// collectives, equal on all processes.
void combine_at_most(std::size_t n);

/// Each in a superstep of its own, or all in one.
void one_by_one(const process& me, const team& by, const std::vector<shape>& all);
void all_at_once(const process& me, const team& by, const std::vector<shape>& all);

/// An object over all, or over some; to be called by all processes, used after the next sync.
team make_team(const process& me, std::size_t calls, std::size_t element, std::size_t most);
team make_team(const process& me, unsigned lo, unsigned hi, unsigned str, std::size_t calls,
               std::size_t element, std::size_t most);
void end_team(const process& me, const team& by);

}  // namespace suite
