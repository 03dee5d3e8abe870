// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/call_comparison.hpp"

#include <cctype>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "frontends/preload/compared_call.hpp"
#include "frontends/preload/pending_calls.hpp"
#include "frontends/preload/preload_process.hpp"
#include "frontends/preload/serve.hpp"
#include "tutti/error.hpp"

namespace tutti::preload {
namespace {

std::string name_of_call(collective what, bool nonblocking) {
  std::string name(name_of(what));
  name[0] = static_cast<char>(nonblocking ? name[0] : std::toupper(static_cast<unsigned char>(name[0])));
  return (nonblocking ? "MPI_I" : "MPI_") + name;
}

}  // namespace

call_comparison::call_comparison(process& p) : p_(p), mutex_(p.multithreaded) {}
call_comparison::~call_comparison() = default;

std::shared_ptr<communicator_info> call_comparison::find_served(MPI_Comm comm) {
  std::shared_ptr<communicator_info> m =
      comm == MPI_COMM_NULL ? nullptr : p_.communicators.find_or_add(comm, *p_.ep);
  return m && m->served ? m : nullptr;
}

// --- exchanges

// Every rank sends to all others at once. So the other ranks can continue before this rank enters
// the library again, unless the channel to one of them is full.
void call_comparison::start(compared_call& o) {
  const auto held = p_.mutex.lock();
  p_.communicators.destroy_freed();
  communicator_info& m = *o.communicator;
  if (!m.comparison_impl) m.comparison_impl = detail::make_group(p_.shared, m.ranks, m.name.with(1));
  o.fill_messages();
  call c;
  c.what = collective::alltoall;
  c.type = {sizeof(published_call), element_kind::opaque, {}};
  c.count = 1;
  c.input = o.sent.data();
  c.output = o.received.data();
  c.algorithm = "scattered:window=1024";
  c.label = o.sent[0].call;
  const internal_errors errors(p_);
  o.run = detail::start_call(*o.communicator->comparison_impl, c);
}

void call_comparison::wait(compared_call& o) {
  for (backoff tries;; tries.pause()) {
    const auto held = p_.mutex.lock();
    const internal_errors errors(p_);
    const bool over = o.run->test();
    progress();
    if (!over) continue;
    o.run.reset();
    return;
  }
}

// For each pair of ranks, only the receiver sees that sent and expected bytes differ. It
// distributes the difference, so that all ranks return an error.
void call_comparison::compare_pairs(compared_call& o) {
  struct difference {
    std::int32_t found, from, to;
    std::uint32_t padding;
    std::uint64_t sends, expects;
  };
  difference mine{};
  for (std::size_t r = 0; r < o.size && mine.found == 0; ++r)
    if (o.received[r].bytes_to_receiver != not_given && o.expected_bytes[r] != not_given &&
        o.received[r].bytes_to_receiver != o.expected_bytes[r])
      mine = {1,
              static_cast<int>(r),
              o.communicator->rank,
              0,
              o.received[r].bytes_to_receiver,
              o.expected_bytes[r]};
  std::vector<difference> all(o.size);
  if (o.pairwise) {
    call c;
    c.what = collective::allgather;
    c.type = {sizeof mine, element_kind::opaque, {}};
    c.count = 1;
    c.input = &mine;
    c.output = all.data();
    c.algorithm = "linear";
    c.label = o.sent[0].call;
    {
      const auto held = p_.mutex.lock();
      o.run = detail::start_call(*o.communicator->comparison_impl, c);
    }
    wait(o);
  } else {
    all[0] = mine;
  }
  for (const difference& d : all)
    if (d.found != 0)
      throw mismatch_error(o.sent[0].call, o.communicator->rank, "",
                           "on " + o.describe_communicator() + " rank " + std::to_string(d.from) + " sends " +
                               std::to_string(d.sends) + " bytes to rank " + std::to_string(d.to) +
                               ", which expects " + std::to_string(d.expects),
                           "make the counts and datatypes on both sides the same");
}

std::optional<int> call_comparison::compare(std::unique_ptr<compared_call> what, bool nonblocking) {
  compared_call& o = *what;
  try {
    start(o);
    if (nonblocking) {
      const auto held = p_.mutex.lock();
      all_.push_back(std::move(what));
      p_.pending->publish_count();
      return {};
    }
    wait(o);
    o.throw_on_mismatch();
    compare_pairs(o);
    return {};
  } catch (...) {
    return report_exception(o.communicator->comm);
  }
}

std::optional<int> call_comparison::compare(const arguments& a, bool nonblocking) {
  std::shared_ptr<communicator_info> m = find_served(a.comm);
  if (!m) return {};
  auto o = std::make_unique<compared_call>(std::move(m), name_of_call(a.what, nonblocking));
  o->describe(a, p_.types);
  return compare(std::move(o), nonblocking);
}

std::optional<int> call_comparison::compare(MPI_Comm comm, const char* call, bool nonblocking) {
  std::shared_ptr<communicator_info> m = find_served(comm);
  if (!m) return {};
  return compare(std::make_unique<compared_call>(std::move(m), call), nonblocking);
}

// The object gets members and a name of its own, so that its messages match none of the
// communicator's.
void call_comparison::register_object(std::uint64_t id, MPI_Comm comm, const char* what) {
  const std::shared_ptr<communicator_info> parent = find_served(comm);
  const auto name = p_.names.next_name(comm);
  if (!parent || !name) return;
  auto made = std::make_shared<communicator_info>();
  made->comm = MPI_COMM_WORLD;  // its error handler is called
  made->rank = parent->rank;
  made->size = parent->size;
  made->ranks = parent->ranks;
  made->name = name->with(static_cast<std::uint64_t>(parent->ranks.first_address()));
  const auto held = mutex_.lock();
  objects_[id] = {std::move(made), what};
}

std::optional<int> call_comparison::compare_object_call(std::uint64_t id, const char* call) {
  object found;
  {
    const auto held = mutex_.lock();
    const auto at = objects_.find(id);
    if (at == objects_.end()) return {};
    found = at->second;
  }
  auto o = std::make_unique<compared_call>(std::move(found.communicator), call);
  o->object = found.what;
  return compare(std::move(o), false);
}

void call_comparison::unregister_object(std::uint64_t id) {
  std::shared_ptr<communicator_info> last;
  {
    const auto held = mutex_.lock();
    const auto at = objects_.find(id);
    if (at == objects_.end()) return;
    last = std::move(at->second.communicator);
    objects_.erase(at);
  }
  const auto held = p_.mutex.lock();
  last.reset();  // it may own a group of tutti
}

// Reports the error of a nonblocking call whose function has already returned.
int call_comparison::report_nonblocking_error(const compared_call& o) noexcept {
  const MPI_Comm comm = p_.communicators.is_alive(*o.communicator) ? o.communicator->comm : MPI_COMM_WORLD;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  try {
    throw;
  } catch (const std::exception& e) {
    if (PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS) {
      if (!is_fatal(handler)) std::fprintf(stderr, "%s\n", e.what());
      PMPI_Errhandler_free(&handler);
    }
  }
  return report_exception(comm);
}

void call_comparison::progress() {
  for (std::size_t i = 0; i < all_.size();) {
    compared_call& o = *all_[i];
    std::unique_ptr<compared_call> over;
    try {
      {
        const internal_errors errors(p_);
        if (!o.run->test()) {
          ++i;
          continue;
        }
      }
      over = std::move(all_[i]);
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
      p_.pending->publish_count();
      over->run.reset();
      over->throw_on_mismatch();
      over->pairwise = false;  // the other ranks may not be here
      compare_pairs(*over);
    } catch (...) {
      if (!over) {
        over = std::move(all_[i]);
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
        p_.pending->publish_count();
      }
      report_nonblocking_error(*over);
    }
  }
}

// Leaks comparisons that never complete: MPI may still hold receives for them.
void call_comparison::abandon() {
  const auto held = p_.mutex.lock();
  for (auto& left : all_) static_cast<void>(left.release());
  all_.clear();
  p_.pending->publish_count();
}

// When all ranks are here, all their earlier data are in transit. A call whose data do not arrive
// in a second was never made.
void call_comparison::finish() {
  if (compare(MPI_COMM_WORLD, "MPI_Finalize")) return abandon();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (backoff tries; !all_.empty() && std::chrono::steady_clock::now() < end; tries.pause())
    p_.pending->progress();
  if (all_.empty()) return;
  compared_call& o = *all_.front();
  const std::string call = o.sent[0].call, where = o.describe_communicator();
  abandon();
  try {
    throw mismatch_error(call, o.communicator->rank, "",
                         "on " + where + " not all ranks have called it before MPI_Finalize",
                         "make the same call with the same arguments on all ranks");
  } catch (...) {
    report_exception(MPI_COMM_WORLD);
  }
}

}  // namespace tutti::preload
