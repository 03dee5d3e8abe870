// SPDX-License-Identifier: Apache-2.0
//
// trace_calls FILE: makes the calls of a file, one per line, so that TUTTI_TRACE records them:
//
//   <collective> <count> <type> <op> <root> <in_place> <inter> <nonblocking>
//
// An example is "allreduce 100 double sum 0 1 0 0". The program does not check results, because
// other tests do.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

using namespace tutti;

namespace {

struct requested_call {
  collective what = collective::barrier;
  std::size_t count = 0;
  std::string type, op;
  int root = 0;
  bool in_place = false, inter = false, nonblocking = false;
};

collective collective_named(const std::string& name) {
  for (std::size_t i = 0; i < collective_names.size(); ++i)
    if (collective_names[i] == name) return static_cast<collective>(i);
  throw std::runtime_error("no collective " + name);
}

element type_named(const std::string& name) {
  if (name == "double") return element_of<double>();
  if (name == "float") return element_of<float>();
  if (name == "int") return element_of<int>();
  if (name == "u8") return element_of<unsigned char>();
  if (name == "byte") return {1, element_kind::opaque, {}};
  if (name == "opaque:24") return {24, element_kind::opaque, {}};
  throw std::runtime_error("no type " + name);
}

// Any function of two elements will do: this one returns the left one.
void keep_left(const void* left, const void*, void* result, std::size_t n, void* element_size) {
  if (result != left) std::memcpy(result, left, n * *static_cast<std::size_t*>(element_size));
}

operation operator_named(const std::string& name, std::size_t& element_size) {
  operation op;
  op.combine = keep_left;
  op.state = &element_size;
  op.commutative = name != "noncommutative";
  if (name == "sum") op.which = builtin_op::sum;
  if (name == "max") op.which = builtin_op::max;
  return op;
}

std::vector<requested_call> read_calls(const char* file) {
  std::ifstream in(file);
  std::vector<requested_call> all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string what;
    requested_call w;
    if (!(words >> what >> w.count >> w.type >> w.op >> w.root >> w.in_place >> w.inter >> w.nonblocking))
      throw std::runtime_error("cannot read: " + line);
    w.what = collective_named(what);
    all.push_back(w);
  }
  if (all.empty()) throw std::runtime_error(std::string("no calls in ") + file);
  return all;
}

// The communicators of the calls: the job, two groups, and neighbors in a ring.
struct communicators {
  detail::communicator_impl& job;
  detail::communicator_handle groups, ring;

  explicit communicators(communicator& comm, const std::vector<requested_call>& calls)
      : job(detail::impl_of(comm)) {
    bool inter = false, of_neighbors = false;
    for (const requested_call& w : calls) {
      inter = inter || w.inter;
      of_neighbors = of_neighbors || is_neighborhood(w.what);
    }
    if (inter) groups = detail::between(job, comm.size() / 2);
    const int left = (comm.rank() + comm.size() - 1) % comm.size(), right = (comm.rank() + 1) % comm.size();
    if (of_neighbors) ring = detail::with_graph(job, std::span(&left, 1), std::span(&right, 1));
  }
  detail::communicator_impl& of(const requested_call& w) const {
    return w.inter ? *groups : is_neighborhood(w.what) ? *ring : job;
  }
};

void make(const requested_call& w, detail::communicator_impl& on) {
  const bool at_root = is_rooted(w.what) && detail::rank_of(on) == w.root;
  call c;
  c.what = w.what;
  c.type = type_named(w.type);
  std::size_t element_size = c.type.size;
  c.count = w.what == collective::barrier ? 0 : w.count;
  c.root = w.root;
  if (combines(w.what)) c.op = operator_named(w.op, element_size);
  c.in_place = w.in_place && (at_root || !is_rooted(w.what));
  const auto blocks = static_cast<std::size_t>(detail::size_of(on)) + 1;
  std::vector<std::byte> input(blocks * w.count * element_size + 1), output(input.size());
  c.input = input.data();
  c.output = output.data();
  const std::vector<std::size_t> send_counts(static_cast<std::size_t>(detail::send_block_count(on, w.what)),
                                             w.count),
      recv_counts(static_cast<std::size_t>(detail::recv_block_count(on, w.what)), w.count);
  if (is_vector_form(w.what)) {
    c.in_counts = counts_view(send_counts.data(), send_counts.size());
    c.out_counts = counts_view(recv_counts.data(), recv_counts.size());
  }
  if (w.nonblocking)
    detail::start_call(on, c)->wait();
  else
    detail::run_call(on, c);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* const file = argv[1];
  return tutti::run(argc, argv, [&](communicator& comm) {
    const std::vector<requested_call> calls = read_calls(file);
    const communicators on(comm, calls);
    for (const requested_call& w : calls) make(w, on.of(w));
  });
}
