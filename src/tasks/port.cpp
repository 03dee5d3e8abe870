// SPDX-License-Identifier: Apache-2.0
//
// The door for the face: tutti/core/tasks.hpp.
#include <cstdio>

#include "tasks/flow.hpp"
#include "tasks/nodes.hpp"

namespace tutti::tasks::port {

flow* open(detail::core& all, const options& how, const char* header) {
  if (all.inter()) all.refuse("tasks", "ranks", "joins two groups", "give the communicator of one");
  if (!all.knows_all()) all.refuse("tasks", "ranks", "knows some of its ranks only", "give split(0) of it");
  if (how.workers < 0 || how.workers > 1024)
    all.refuse("tasks", "workers", "is " + std::to_string(how.workers),
               "give 1 to 1024, or 0 for TUTTI_TASK_WORKERS");
  return new flow(all, how, header);
}
// What outlives its run cannot be ended any more: others that it waits for are gone, and so is its
// engine.
void close(flow* f, bool passing_by) noexcept {
  if (f->outlived_run()) {
    std::fprintf(
        stderr, "tutti: tasks on rank %d: the runtime has outlived its run(); what it had to do is dropped\n",
        f->rank());
    return;
  }
  f->close(passing_by);
  delete f;
}

int rank(const flow& f) noexcept { return f.rank(); }
int size(const flow& f) noexcept { return f.size(); }
int workers(const flow& f) noexcept { return f.workers(); }

datum* add(flow& f, const extent& e) { return f.add(e); }
void remove(flow& f, datum* d) {
  if (d != nullptr) f.remove(*d);
}
extent extent_of(const datum& d) noexcept {
  extent e = d.form;
  e.owner = d.owner;
  return e;
}
long tag_of(const datum& d) noexcept { return d.number < 0 ? -1 - d.number : d.number; }
void set_tag(flow& f, datum& d, long tag) { f.set_tag(d, tag); }
void set_owner(flow& f, datum& d, int owner) { f.set_owner(d, owner); }

void* begin(flow& f, const use* uses, std::size_t n, const wishes& w, const code& c) {
  f.note({});  // an insertion is written over several lines
  return f.begin(uses, n, w, c);
}
void submit(flow& f) noexcept { f.submit(); }

void note(const flow& f, const std::source_location& at) noexcept { f.note(at); }

void fetch(flow& f, datum* d, int rank) { f.fetch(d, rank); }
void scatter(flow& f, datum* const* data, std::size_t n, int root) { f.scatter(data, n, root); }
void gather(flow& f, datum* const* data, std::size_t n, int root) { f.gather(data, n, root); }
void flush(flow& f, datum* d) { f.flush(d); }
void set_cache(flow& f, bool on) { f.set_cache(on); }

void* acquire(flow& f, datum* d, use_mode how, place& at) { return f.acquire(*d, how, at); }
void release(flow& f, void* acquired) noexcept { f.release_view(acquired); }

void* start(flow& f, const explicit_transfer& t, bool sends) { return f.start(t, sends); }
bool test(flow& f, void* request, detail::envelope& found) { return f.test(request, found); }
void wait(flow& f, void* request, detail::envelope& found) { f.wait(request, found); }
void drop(flow& f, void* request) noexcept { f.drop(request); }
void detach(flow& f, const explicit_transfer* all, std::size_t n, bool sends, const follow_up& then) {
  f.detach(all, n, sends, then);
}

void wait_all(flow& f) { f.wait_all(); }
void unlock(flow& f, std::uint64_t tag) { f.unlock(tag); }
void barrier(flow& f) { f.barrier(); }
void progress(flow& f) { f.progress_all(); }
statistics told(const flow& f) { return f.told(); }

void refuse(const flow& f, const char* operation, const char* parameter, std::string_view problem,
            const char* remedy) {
  f.refuse(operation, parameter, problem, remedy);
}

}  // namespace tutti::tasks::port
