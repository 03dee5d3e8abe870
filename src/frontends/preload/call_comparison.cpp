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

comparisons::comparisons(process& p) : p_(p), lock_(p.threads) {}
comparisons::~comparisons() = default;

std::shared_ptr<known_communicator> comparisons::served(MPI_Comm comm) {
  std::shared_ptr<known_communicator> m = comm == MPI_COMM_NULL ? nullptr : p_.all.of(comm, *p_.ep);
  return m && m->served ? m : nullptr;
}

// --- Exchanges.

// Every rank sends to all others at once. So the other ranks can continue before this rank enters
// the library again.
void comparisons::start(compared_call& o) {
  const auto mine = p_.turn.take();
  p_.all.let_go();
  if (!o.of->compared) o.of->compared = detail::make_group(p_.shared, o.of->ranks, o.of->name.with(1));
  o.spread();
  call c;
  c.what = collective::alltoall;
  c.type = {sizeof(published_call), element_kind::opaque, {}};
  c.count = 1;
  c.input = o.mine.data();
  c.output = o.all.data();
  c.algorithm = "scattered:window=1024";
  c.label = o.mine[0].call;
  const own_errors errors(p_);
  o.run = detail::start_call(*o.of->compared, c);
}

void comparisons::wait(compared_call& o) {
  for (patience tries;; tries.pause()) {
    const auto mine = p_.turn.take();
    const own_errors errors(p_);
    const bool over = o.run->test();
    go_on();
    if (!over) continue;
    o.run.reset();
    return;
  }
}

// For each pair of ranks, only the receiver sees that sent and expected bytes differ. It
// distributes the difference, so that all ranks return an error.
void comparisons::agree_on_pairs(compared_call& o) {
  struct difference {
    std::int32_t found, from, to;
    std::uint32_t no_hole;
    std::uint64_t sends, expects;
  };
  difference mine{};
  for (std::size_t r = 0; r < o.size && mine.found == 0; ++r)
    if (o.all[r].to_you != not_given && o.expects[r] != not_given && o.all[r].to_you != o.expects[r])
      mine = {1, static_cast<int>(r), o.of->rank, 0, o.all[r].to_you, o.expects[r]};
  std::vector<difference> all(o.size);
  if (o.pairwise) {
    call c;
    c.what = collective::allgather;
    c.type = {sizeof mine, element_kind::opaque, {}};
    c.count = 1;
    c.input = &mine;
    c.output = all.data();
    c.algorithm = "linear";
    c.label = o.mine[0].call;
    {
      const auto held = p_.turn.take();
      o.run = detail::start_call(*o.of->compared, c);
    }
    wait(o);
  } else {
    all[0] = mine;
  }
  for (const difference& d : all)
    if (d.found != 0)
      throw mismatch_error(o.mine[0].call, o.of->rank, "",
                           "on " + o.where() + " rank " + std::to_string(d.from) + " sends " +
                               std::to_string(d.sends) + " bytes to rank " + std::to_string(d.to) +
                               ", which expects " + std::to_string(d.expects),
                           "make the counts and datatypes on both sides the same");
}

std::optional<int> comparisons::compare(std::unique_ptr<compared_call> what, bool nonblocking) {
  compared_call& o = *what;
  try {
    start(o);
    if (nonblocking) {
      const auto mine = p_.turn.take();
      all_.push_back(std::move(what));
      p_.begun->count();
      return {};
    }
    wait(o);
    o.judge();
    agree_on_pairs(o);
    return {};
  } catch (...) {
    return failed(o.of->comm);
  }
}

std::optional<int> comparisons::compare(const arguments& a, bool nonblocking) {
  std::shared_ptr<known_communicator> m = served(a.comm);
  if (!m) return {};
  auto o = std::make_unique<compared_call>(std::move(m), name_of_call(a.what, nonblocking));
  o->describe(a, p_.types);
  return compare(std::move(o), nonblocking);
}

std::optional<int> comparisons::compare(MPI_Comm comm, const char* call, bool nonblocking) {
  std::shared_ptr<known_communicator> m = served(comm);
  if (!m) return {};
  return compare(std::make_unique<compared_call>(std::move(m), call), nonblocking);
}

// The object gets members and a name of its own, so that its messages match none of the
// communicator's.
void comparisons::keep(std::uint64_t number, MPI_Comm comm, const char* what) {
  const std::shared_ptr<known_communicator> parent = served(comm);
  const auto name = p_.named.next_of(comm);
  if (!parent || !name) return;
  auto made = std::make_shared<known_communicator>();
  made->comm = MPI_COMM_WORLD;  // its error handler is called
  made->rank = parent->rank;
  made->size = parent->size;
  made->ranks = parent->ranks;
  made->name = name->with(static_cast<std::uint64_t>(parent->ranks.first_address()));
  const auto held = lock_.take();
  objects_[number] = {std::move(made), what};
}

std::optional<int> comparisons::compare_on(std::uint64_t number, const char* call) {
  object found;
  {
    const auto held = lock_.take();
    const auto at = objects_.find(number);
    if (at == objects_.end()) return {};
    found = at->second;
  }
  auto o = std::make_unique<compared_call>(std::move(found.of), call);
  o->object = found.what;
  return compare(std::move(o), false);
}

void comparisons::drop(std::uint64_t number) {
  std::shared_ptr<known_communicator> last;
  {
    const auto held = lock_.take();
    const auto at = objects_.find(number);
    if (at == objects_.end()) return;
    last = std::move(at->second.of);
    objects_.erase(at);
  }
  const auto mine = p_.turn.take();
  last.reset();  // it may own a group of tutti
}

// Reports the error of a nonblocking call whose function has already returned.
int comparisons::failed_begun(const compared_call& o) noexcept {
  const MPI_Comm comm = p_.all.is_alive(*o.of) ? o.of->comm : MPI_COMM_WORLD;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  try {
    throw;
  } catch (const std::exception& e) {
    if (PMPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS) {
      if (!ends_job(handler)) std::fprintf(stderr, "%s\n", e.what());
      PMPI_Errhandler_free(&handler);
    }
  }
  return failed(comm);
}

void comparisons::go_on() {
  for (std::size_t i = 0; i < all_.size();) {
    compared_call& o = *all_[i];
    std::unique_ptr<compared_call> over;
    try {
      {
        const own_errors errors(p_);
        if (!o.run->test()) {
          ++i;
          continue;
        }
      }
      over = std::move(all_[i]);
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
      p_.begun->count();
      over->run.reset();
      over->judge();
      over->pairwise = false;  // the other ranks may not be here
      agree_on_pairs(*over);
    } catch (...) {
      if (!over) {
        over = std::move(all_[i]);
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
        p_.begun->count();
      }
      failed_begun(*over);
    }
  }
}

// Leaks comparisons that never complete: MPI may still hold receives for them.
void comparisons::abandon() {
  const auto mine = p_.turn.take();
  for (auto& left : all_) static_cast<void>(left.release());
  all_.clear();
  p_.begun->count();
}

// When all ranks are here, all their earlier data are in transit. A call whose data do not arrive
// in a second was never made.
void comparisons::finish() {
  if (compare(MPI_COMM_WORLD, "MPI_Finalize")) return abandon();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (patience tries; !all_.empty() && std::chrono::steady_clock::now() < end; tries.pause())
    p_.begun->go_on();
  if (all_.empty()) return;
  compared_call& o = *all_.front();
  const std::string call = o.mine[0].call, where = o.where();
  abandon();
  try {
    throw mismatch_error(call, o.of->rank, "",
                         "on " + where + " not all ranks have called it before MPI_Finalize",
                         "make the same call with the same arguments on all ranks");
  } catch (...) {
    failed(MPI_COMM_WORLD);
  }
}

}  // namespace tutti::preload
