// SPDX-License-Identifier: Apache-2.0
#include "frontends/bsp/superstep_check.hpp"

#include <algorithm>
#include <cstring>

#include "tutti/error.hpp"

namespace tutti::bsp {
namespace {

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  const std::size_t length = std::strlen(from), copied = std::min(length, N - 1);
  // The end of a long path is more useful than its beginning.
  std::memcpy(to, from + (length - copied), copied);
  to[copied] = 0;
}

void gather(detail::communicator_impl& all, const void* mine, std::size_t bytes, void* of_all) {
  call c;
  c.what = collective::allgather;
  c.count = bytes;
  c.input = mine;
  c.output = of_all;
  detail::run_call(all, c);
}

}  // namespace

superstep_check::superstep_check(detail::communicator_impl& all, const memory_register& memory)
    : all_(all), memory_(memory), me_(detail::rank_of(all)) {}

// Formats a record as "lpf_put of process 2 (a.cpp:17)".
std::string superstep_check::record::text() const {
  std::string text = std::string(name) + " of process " + std::to_string(process);
  if (file[0] != 0) text += " (" + std::string(file) + ":" + std::to_string(line) + ")";
  return text;
}

superstep_check::record& superstep_check::add_record(const char* name, const call_site& where,
                                                     record_kind kind, int owner) {
  record& r = records_.emplace_back();
  std::memset(static_cast<void*>(&r), 0, sizeof r);
  copy_text(r.name, name);
  copy_text(r.file, where.file != nullptr ? where.file : "");
  r.line = where.line;
  r.process = me_;
  r.owner = owner;
  r.call_number = calls_;
  r.kind = kind;
  return r;
}

void superstep_check::add_message(const call_site& where, const message& m) {
  ++calls_;
  const bool puts = m.kind() == message_kind::put;
  const char* const name = puts ? "put" : "get";
  record& local = add_record(name, where, puts ? record_kind::local_read : record_kind::local_write, me_);
  local.at = reinterpret_cast<std::uintptr_t>(puts ? m.source : m.target);
  local.bytes = m.bytes;
  record& remote =
      add_record(name, where, puts ? record_kind::remote_write : record_kind::remote_read, m.peer);
  remote.at = m.remote_slot;
  remote.offset = m.remote_offset;
  remote.bytes = m.bytes;
}

void superstep_check::add_registration(const call_site& where, slot s, std::size_t bytes) {
  ++calls_;
  record& r = add_record("register_global", where, record_kind::registration, -1);
  r.at = s;
  r.size = bytes;
}

void superstep_check::add_deregistration(const call_site& where, slot s) {
  ++calls_;
  add_record("deregister", where, record_kind::deregistration, -1).at = s;
}

void superstep_check::add_set(process_set_id id, int first, int last, int stride) {
  sets_[id] = {first, last, stride, shapes_[{first, last, stride}]++};
}

void superstep_check::add_collective(const call_site& where, const collective_call& what) {
  ++calls_;
  record& r = add_record(what.name, where, record_kind::collective, -1);
  const shape& s = sets_[what.set];
  r.first = s.first;
  r.last = s.last;
  r.stride = s.stride;
  r.ordinal = s.ordinal;
  r.index = indices_[what.set]++;
  r.count = what.count;
  r.size = what.size;
  r.root = what.root;
}

void superstep_check::add_access(const void* at, std::size_t bytes, bool writes) {
  if (at == nullptr || bytes == 0) return;
  const record last = records_.back();
  record& r = add_record(last.name, {last.file, last.line},
                         writes ? record_kind::local_write : record_kind::local_read, me_);
  r.at = reinterpret_cast<std::uintptr_t>(at);
  r.bytes = bytes;
}

std::vector<superstep_check::record> superstep_check::gather_records() {
  const auto p = static_cast<std::size_t>(detail::size_of(all_));
  const std::size_t mine = records_.size() * sizeof(record);
  std::vector<std::size_t> lengths(p), places(p);
  gather(all_, &mine, sizeof mine, lengths.data());
  std::size_t total = 0;
  for (std::size_t i = 0; i < p; ++i) {
    places[i] = total;
    total += lengths[i];
  }
  std::vector<record> all(total / sizeof(record));
  call c;
  c.what = collective::allgatherv;
  c.count = mine;
  c.input = records_.data();
  c.output = all.data();
  c.out_counts = counts_view(lengths.data(), p);
  c.out_displs = counts_view(places.data(), p);
  detail::run_call(all_, c);
  return all;
}

// A message counts at its origin and at its target.
std::string superstep_check::overflow_here(const std::vector<record>& all, std::size_t queue_capacity) const {
  std::size_t sent = 0, received = 0;
  const record* last = nullptr;
  for (const record& r : all) {
    if (!r.is_message()) continue;
    sent += r.process == me_ ? 1 : 0;
    received += r.owner == me_ ? 1 : 0;
    if (r.owner == me_) last = &r;
  }
  if (sent + received <= queue_capacity || last == nullptr) return {};
  return "the message queue of process " + std::to_string(me_) + " is too short: it has space for " +
         std::to_string(queue_capacity) + ", but the process sends " + std::to_string(sent) +
         " and is the target of " + std::to_string(received) + ", the last of which is a " + last->text();
}

// Describes the first global registration or deregistration that another process does not make at
// the same position. All processes have the same data, so they get the same result.
std::string superstep_check::registrations_differ(const std::vector<record>& all) const {
  std::vector<std::vector<const record*>> of(static_cast<std::size_t>(detail::size_of(all_)));
  for (const record& r : all)
    if (r.is_registration()) of[static_cast<std::size_t>(r.process)].push_back(&r);
  const auto what = [](const record& r) { return r.text() + " (slot " + std::to_string(r.at) + ")"; };
  for (std::size_t q = 1; q < of.size(); ++q) {
    const std::vector<const record*>&first = of[0], &other = of[q];
    for (std::size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
      if (i >= other.size()) return what(*first[i]) + " has no counterpart on process " + std::to_string(q);
      if (i >= first.size()) return what(*other[i]) + " has no counterpart on process 0";
      if (first[i]->kind != other[i]->kind || first[i]->at != other[i]->at)
        return what(*first[i]) + " does not match " + what(*other[i]);
    }
  }
  return {};
}

// Describes a read of this process's memory that conflicts with a write of another call.
std::string superstep_check::conflict_here(const std::vector<record>& all, std::uint64_t superstep) const {
  std::vector<interval> used;
  for (const record& r : all) {
    if (r.owner != me_ || r.bytes == 0) continue;
    std::uint64_t begin = r.at;
    if (r.kind == record_kind::remote_read || r.kind == record_kind::remote_write) {
      const area* const a = memory_.find(r.at, r.offset, r.bytes);
      if (a == nullptr)
        return r.text() + " names " + std::to_string(r.bytes) + " bytes at offset " +
               std::to_string(r.offset) + " of slot " + std::to_string(r.at) + " of process " +
               std::to_string(me_) + ", which are not registered there";
      if (a->registered_in == superstep)
        return r.text() + " uses slot " + std::to_string(r.at) + " of process " + std::to_string(me_) +
               " in the superstep in which it was registered; it can be used after the next sync";
      begin = reinterpret_cast<std::uintptr_t>(a->base) + r.offset;
    }
    used.push_back({begin, begin + r.bytes, &r});
  }
  std::sort(used.begin(), used.end(), [](const interval& a, const interval& b) { return a.begin < b.begin; });
  std::vector<interval> open;
  for (const interval& i : used) {
    std::erase_if(open, [&](const interval& o) { return o.end <= i.begin; });
    for (const interval& o : open)
      if (o.access->is_write() != i.access->is_write() && !o.access->same_call(*i.access)) {
        const bool first_writes = o.access->is_write();
        const record& writer = first_writes ? *o.access : *i.access;
        const record& reader = first_writes ? *i.access : *o.access;
        return writer.text() + " writes " + std::to_string(std::min(o.end, i.end) - i.begin) +
               " bytes of process " + std::to_string(me_) + " that " + reader.text() +
               " reads in the same superstep";
      }
    open.push_back(i);
  }
  return {};
}

// Describes the first call that its members do not make equally. All processes have the same data,
// so they get the same result.
std::string superstep_check::difference(std::vector<record>& all) {
  std::erase_if(all, [](const record& r) { return r.kind != record_kind::collective; });
  const auto key = [](const record& r) { return std::tuple(r.first, r.last, r.stride, r.ordinal, r.index); };
  std::stable_sort(all.begin(), all.end(), [&](const record& a, const record& b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < all.size();) {
    const record& first = all[i];
    std::size_t end = i;
    for (; end < all.size() && key(all[end]) == key(first); ++end) {
      const record& r = all[end];
      const int expected = first.first + static_cast<int>(end - i) * first.stride;
      if (r.process != expected) {
        const int missing = end == i ? first.first : expected;
        return first.text() + " has no counterpart on process " + std::to_string(missing) +
               ", which is a member";
      }
      const auto what = [](const record& c) {
        return c.text() + ": " + std::to_string(c.count) + " times " + std::to_string(c.size) + " bytes" +
               (c.root >= 0 ? ", root " + std::to_string(c.root) : "");
      };
      if (std::strcmp(r.name, first.name) != 0 || r.count != first.count || r.size != first.size ||
          r.root != first.root)
        return what(first) + "; " + what(r);
    }
    if (const int expected = first.first + static_cast<int>(end - i) * first.stride; expected <= first.last)
      return first.text() + " has no counterpart on process " + std::to_string(expected) +
             ", which is a member";
    i = end;
  }
  return {};
}

std::string superstep_check::first_diagnostic(const std::string& diagnostic) {
  struct text {
    char chars[480];
  };
  const auto p = static_cast<std::size_t>(detail::size_of(all_));
  text mine{};
  std::memcpy(mine.chars, diagnostic.data(), std::min(diagnostic.size(), sizeof mine.chars - 1));
  std::vector<text> all(p);
  gather(all_, &mine, sizeof mine, all.data());
  for (const text& t : all)
    if (t.chars[0] != 0) return t.chars;
  return {};
}

void superstep_check::compare(std::uint64_t superstep, std::uint64_t reported_superstep,
                              std::size_t queue_capacity) {
  std::vector<record> all = gather_records();
  records_.clear();
  indices_.clear();
  calls_ = 0;
  const std::string when = "in superstep " + std::to_string(reported_superstep) + " ";
  if (const std::string differs = registrations_differ(all); !differs.empty())
    throw mismatch_error("sync", me_, "memslot", when + differs,
                         "register and deregister global memory on all processes, in the same order");
  if (const std::string overflow = first_diagnostic(overflow_here(all, queue_capacity)); !overflow.empty())
    throw mismatch_error(
        "sync", me_, "max_msgs", when + overflow,
        "a message counts at its origin and at its target; resize the queue of that process");
  const std::string conflict = first_diagnostic(conflict_here(all, superstep));
  if (!conflict.empty())
    throw mismatch_error("sync", me_, "", when + conflict, "move one of them to another superstep");
  if (const std::string differs = difference(all); !differs.empty())
    throw mismatch_error("sync", me_, "coll", when + differs,
                         "call the same collectives with the same arguments on all members");
}

}  // namespace tutti::bsp
