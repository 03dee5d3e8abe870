// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/compared_call.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::preload {
namespace {

const char* name_of_operator(MPI_Op op) {
  const std::pair<MPI_Op, const char*> all[] = {
      {MPI_SUM, "MPI_SUM"},        {MPI_PROD, "MPI_PROD"},     {MPI_MIN, "MPI_MIN"},
      {MPI_MAX, "MPI_MAX"},        {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
      {MPI_BXOR, "MPI_BXOR"},      {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
      {MPI_LXOR, "MPI_LXOR"},      {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
      {MPI_OP_NULL, "MPI_OP_NULL"}};
  for (const auto& [handle, name] : all)
    if (handle == op) return name;
  return "a user-defined operator";
}

void copy_text(std::span<char> into, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), into.size() - 1), into.begin());
}

// A step of FNV-1a.
std::uint64_t hash_step(std::uint64_t hash, std::uint64_t value) noexcept {
  return (hash ^ value) * 1099511628211u;
}

// In an allgatherv, only the rank itself sees that it sends another number of bytes than it expects
// from itself.
bool is_pairwise(collective what) noexcept {
  return what == collective::gatherv || what == collective::scatterv || what == collective::allgatherv ||
         what == collective::alltoallv || what == collective::alltoallw;
}

// Whether all ranks must be in place, or none. MPI requires this, although the result of a
// reduction would be the same. A reduce_scatter is exempt: a rank that receives nothing has no
// memory for its operand.
bool requires_same_in_place(collective what) noexcept {
  return !is_rooted(what) && what != collective::scan && what != collective::exscan &&
         what != collective::barrier && what != collective::reduce_scatter;
}

bool is_same_call(const published_call& a, const published_call& b) noexcept {
  return std::strcmp(a.call, b.call) == 0 && std::strcmp(a.op, b.op) == 0 && a.root == b.root &&
         a.in_place == b.in_place && a.kind == b.kind && a.counts == b.counts;
}

std::uint64_t bytes_of(datatypes& types, int count, MPI_Datatype type) {
  if (count < 0) return not_given;
  if (count == 0) return 0;
  const datatype& t = types.of(type);
  return t.usable ? static_cast<std::uint64_t>(count) * t.size : not_given;
}

}  // namespace

std::string published_call::text() const {
  static constexpr const char* kinds[] = {"",        "int8",        "int16",  "int32",  "int64",
                                          "uint8",   "uint16",      "uint32", "uint64", "float32",
                                          "float64", "long double", "bool"};
  std::string t(call);
  if (send_bytes != not_given && recv_bytes != not_given && send_bytes != recv_bytes)
    t += " of " + std::to_string(send_bytes) + " bytes sent and " + std::to_string(recv_bytes) + " received";
  else if (send_bytes != not_given || recv_bytes != not_given)
    t += " of " + std::to_string(send_bytes != not_given ? send_bytes : recv_bytes) + " bytes";
  if (kind != 0 && kind < std::size(kinds)) t += std::string(" (") + kinds[kind] + ")";
  if (op[0] != '\0') t += std::string(", ") + op;
  if (root >= 0) t += ", root " + std::to_string(root);
  if (in_place != 0) t += ", in place";
  return t;
}

compared_call::compared_call(std::shared_ptr<communicator_info> m, std::string_view name)
    : communicator(std::move(m)),
      size(static_cast<std::size_t>(communicator->size)),
      sent(size),
      received(size),
      expected_bytes(size, not_given) {
  std::memset(static_cast<void*>(sent.data()), 0, size * sizeof(published_call));
  std::memset(static_cast<void*>(received.data()), 0, size * sizeof(published_call));
  published_call& first = sent[0];
  copy_text(first.call, name);
  first.root = -1;
  first.send_bytes = first.recv_bytes = first.bytes_to_receiver = not_given;
  sent_bytes.assign(size, not_given);
}

void compared_call::fill_messages() {
  for (std::size_t r = size; r-- > 0;) {
    sent[r] = sent[0];
    sent[r].bytes_to_receiver = sent_bytes[r];
  }
}

// Returns a rank whose call differs from rank 0's; -1: none.
int compared_call::first_mismatch() const noexcept {
  std::uint64_t block = not_given;
  for (std::size_t r = 0; r < size; ++r) {
    if (!is_same_call(received[r], received[0])) return static_cast<int>(r);
    for (const std::uint64_t n : {received[r].send_bytes, received[r].recv_bytes}) {
      if (n == not_given) continue;
      if (block == not_given) block = n;
      if (n != block) return static_cast<int>(r);
    }
  }
  return -1;
}

std::string compared_call::describe_communicator() const {
  if (object != nullptr) return std::string(object) + " of " + std::to_string(size) + " ranks";
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  if (PMPI_Comm_get_name(communicator->comm, name, &length) == MPI_SUCCESS && name[0] != '\0') return name;
  return "a communicator of " + std::to_string(size) + " ranks, of which rank 0 is rank " +
         std::to_string(communicator->ranks.first_address()) + " of MPI_COMM_WORLD,";
}

void compared_call::throw_on_mismatch() const {
  const int r = first_mismatch();
  if (r < 0) return;
  const published_call &a = received[0], &b = received[static_cast<std::size_t>(r)];
  std::string first = a.text(), second = b.text();
  if (first == second && a.counts != b.counts) second += " with different counts";
  if (first == second) second += " of a different element type";
  const std::string difference = r == 0 ? "" : ", but rank " + std::to_string(r) + " calls " + second;
  throw mismatch_error(sent[0].call, communicator->rank, "",
                       "on " + describe_communicator() + " rank 0 calls " + first + difference,
                       "make the same call with the same arguments on all ranks");
}

void compared_call::describe(const arguments& a, datatypes& types) {
  published_call& t = sent[0];
  const bool root = is_rooted(a.what) && communicator->rank == a.root, in_place = a.in_place();
  if (is_rooted(a.what)) t.root = a.root;
  if (requires_same_in_place(a.what)) t.in_place = in_place ? 1 : 0;
  if (combines(a.what)) {
    copy_text(t.op, name_of_operator(a.op));
    t.kind = static_cast<std::uint32_t>(types.of(a.out_type).kind);
  }
  switch (a.what) {
    case collective::barrier:
      return;
    case collective::bcast:
      (root ? t.send_bytes : t.recv_bytes) = bytes_of(types, a.out_count, a.out_type);
      return;
    case collective::reduce:
    case collective::allreduce:
    case collective::reduce_scatter_block:
    case collective::scan:
    case collective::exscan:
      t.send_bytes = bytes_of(types, a.out_count, a.out_type);
      return;
    case collective::gather:
      if (!in_place) t.send_bytes = bytes_of(types, a.in_count, a.in_type);
      if (root) t.recv_bytes = bytes_of(types, a.out_count, a.out_type);
      return;
    case collective::scatter:
      if (root) t.send_bytes = bytes_of(types, a.in_count, a.in_type);
      if (a.out != MPI_IN_PLACE) t.recv_bytes = bytes_of(types, a.out_count, a.out_type);
      return;
    case collective::allgather:
    case collective::alltoall:
      if (!in_place) t.send_bytes = bytes_of(types, a.in_count, a.in_type);
      t.recv_bytes = bytes_of(types, a.out_count, a.out_type);
      return;
    default:
      return describe_vectors(a, types);
  }
}

void compared_call::describe_vectors(const arguments& a, datatypes& types) {
  const bool root = is_rooted(a.what) && communicator->rank == a.root, in_place = a.in_place();
  const auto me = static_cast<std::size_t>(communicator->rank);
  const auto in_bytes = [&](std::size_t r) {
    return a.in_counts == nullptr
               ? not_given
               : bytes_of(types, a.in_counts[r], a.in_types != nullptr ? a.in_types[r] : a.in_type);
  };
  const auto out_bytes = [&](std::size_t r) {
    return a.out_counts == nullptr
               ? not_given
               : bytes_of(types, a.out_counts[r], a.out_types != nullptr ? a.out_types[r] : a.out_type);
  };
  pairwise = is_pairwise(a.what);
  const auto to_root = static_cast<std::size_t>(std::clamp(a.root, 0, communicator->size - 1));
  switch (a.what) {
    case collective::gatherv:
      if (!in_place) sent_bytes[to_root] = bytes_of(types, a.in_count, a.in_type);
      for (std::size_t r = 0; root && r < size; ++r)
        if (!(in_place && r == me)) expected_bytes[r] = out_bytes(r);
      return;
    case collective::scatterv:
      for (std::size_t r = 0; root && r < size; ++r)
        if (!(a.out == MPI_IN_PLACE && r == me)) sent_bytes[r] = in_bytes(r);
      if (a.out != MPI_IN_PLACE) expected_bytes[to_root] = bytes_of(types, a.out_count, a.out_type);
      return;
    case collective::alltoallv:
    case collective::alltoallw:
      for (std::size_t r = 0; r < size; ++r) {
        sent_bytes[r] = in_place ? out_bytes(r) : in_bytes(r);
        expected_bytes[r] = out_bytes(r);
      }
      return;
    default:  // allgatherv, reduce_scatter: all have the same counts
      for (std::size_t r = 0; r < size; ++r) sent[0].counts = hash_step(sent[0].counts + 1, out_bytes(r));
      if (a.what != collective::allgatherv || in_place) return;
      sent_bytes[me] = bytes_of(types, a.in_count, a.in_type);
      expected_bytes[me] = out_bytes(me);
  }
}

}  // namespace tutti::preload
