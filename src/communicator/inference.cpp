// SPDX-License-Identifier: Apache-2.0
#include "tutti/detail/inference.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "communicator/communicator_impl.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

// The name of the call in the program: iallreduce_single, alltoallv_init, isend.
std::string api_name(call_name name) {
  if (name.message)
    return api_name(message_form{static_cast<message_call>(name.what), name.how, name.single});
  std::string text = name.how == mode::nonblocking ? "i" : "";
  text += name_of(static_cast<collective>(name.what));
  if (name.equal_blocks) text.pop_back();  // neighbor_allgather, carried out as neighbor_allgatherv
  if (name.single) text += "_single";
  if (name.how == mode::persistent) text += "_init";
  return text;
}

// An exchange of counts. Reports name the call of the program.
call exchange(const collective_caller& s, collective what, const void* input, void* output) {
  call c;
  c.what = what;
  const auto user = static_cast<collective>(s.name.what);
  c.on_behalf = static_cast<std::uint16_t>(1 + s.name.what);
  c.label = name_of(user).data();
  c.type = element_of<std::size_t>();
  c.count = 1;
  c.input = input;
  c.output = output;
  return c;
}

// Exchanges one number for each block, by the collective for this kind of communicator.
void exchange_blocks(const collective_caller& s, collective what, const void* mine, void* all) {
  if (!is_neighborhood(s.what)) return run_call(s.where, exchange(s, what, mine, all));
  call c = exchange(
      s, what == collective::allgather ? collective::neighbor_allgatherv : collective::neighbor_alltoallv,
      mine, all);
  const std::vector<std::size_t> ones(static_cast<std::size_t>(std::max(s.send_blocks, s.recv_blocks)), 1);
  c.in_counts = {ones.data(), static_cast<std::size_t>(s.send_blocks)};
  c.out_counts = {ones.data(), static_cast<std::size_t>(s.recv_blocks)};
  run_call(s.where, c);
}

[[noreturn]] void throw_peer(const collective_caller& s, const std::string& who) {
  throw peer_error(api_name(s.name), s.rank, "", who + " rejected its arguments",
                   "see the error of that rank", place_of(s.where));
}

template <class Int>
Int validated_narrow(caller s, parameter name, std::size_t number) {
  if (number > static_cast<std::size_t>(std::numeric_limits<Int>::max())) reject_narrow(s, name, number);
  return static_cast<Int>(number);
}

template <class Int>
void put(caller s, parameter name, const counts_view& from, Int* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = validated_narrow<Int>(s, name, from[i]);
}

template <class Int>
void put_packed(caller s, parameter name, const counts_view& counts, Int* to) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < counts.size(); at += counts[i], ++i) to[i] = validated_narrow<Int>(s, name, at);
}

}  // namespace

void reject_call(caller s, parameter name, std::string_view problem, const char* remedy) {
  reject(s.where, api_name(s.name).c_str(), parameter_name(name), problem, remedy);
}

void reject_message(caller s, parameter name, std::string_view problem) {
  throw mismatch_error(api_name(s.name), rank_of(s.where), parameter_name(name), problem,
                       "receive an object of the type that was sent, with as_deserializable",
                       place_of(s.where));
}

void reject_root(caller s, int root) {
  reject_call(s, parameter::root,
              "is " + std::to_string(root) + ", but ranks are 0 to " + std::to_string(size_of(s.where) - 1),
              "name a rank of this communicator");
}

void reject_null(caller s, parameter name, std::size_t n) {
  reject_call(s, name, "is null, with a count of " + std::to_string(n),
              "pass a buffer of that many elements");
}

void reject_recv_count(caller s, long long given, std::size_t n) {
  reject_call(s, parameter::recv_count,
              "is " + std::to_string(given) + ", but blocks of " + std::to_string(n) + " elements are sent",
              "leave it out, or give the length that is sent");
}

void reject_not_single(caller s, parameter name, std::size_t n) {
  reject_call(s, name, "is for one element, but the message has " + std::to_string(n),
              "receive it with recv<T>(), into a container");
}

void reject_default(communicator_impl& where, const char* operation, const char* parameter, int value) {
  const bool is_root = std::string_view(parameter) == "root";
  reject(where, operation, parameter, "is " + std::to_string(value),
         is_root ? ("roots are 0 to " + std::to_string(size_of(where) - 1)).c_str()
                 : "tags are 0 to 32767 on every engine");
}

void reject_size(caller s, parameter name, std::size_t holds, std::size_t needed) {
  reject_call(s, name,
              "holds " + std::to_string(holds) + " elements, but " + std::to_string(needed) + " are needed",
              "make it larger, or let it be resized: name<resize_to_fit>(...)");
}

void reject_values(caller s, std::size_t values, std::size_t n) {
  reject_call(s, parameter::values_on_rank_0,
              "holds " + std::to_string(values) + " values for " + std::to_string(n) + " elements",
              "pass one for all of them, or one for each");
}

void reject_overflow(caller s, parameter name, std::size_t needed) {
  reject_call(s, name, "needs " + std::to_string(needed) + " elements, which exceed the address space",
              "receive fewer elements");
}

void reject_narrow(caller s, parameter name, std::size_t number) {
  reject_call(s, name, std::to_string(number) + " does not fit in an int",
              "pass a container of std::size_t: name_out<std::vector<std::size_t>>()");
}

std::size_t validated_count(caller s, parameter name, long long count) {
  if (count < 0) reject_call(s, name, "is negative: " + std::to_string(count), "counts are 0 or more");
  return static_cast<std::size_t>(count);
}

void validate_within(caller s, parameter name, std::size_t end, std::size_t holds) {
  if (end <= holds) return;
  reject_call(
      s, name,
      "reaches to element " + std::to_string(end) + " of a buffer that holds " + std::to_string(holds),
      "make it smaller, or the buffer larger");
}

void validate_blocks_within(caller s, parameter counts_name, const counts_view& counts, parameter displs_name,
                            std::size_t end, std::size_t holds) {
  if (end <= holds) return;
  std::size_t packed = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) packed += counts[i];
  validate_within(s, packed <= holds ? displs_name : counts_name, end, holds);
}

std::size_t block_length(const collective_caller& s, parameter name, std::size_t elements) {
  const auto p = static_cast<std::size_t>(s.send_blocks);
  if (p == 0) {
    if (elements != 0)
      reject_call(s, name, "has elements, but there is no rank to send them to", "pass an empty buffer");
    return 0;
  }
  if (elements % p != 0)
    reject_call(
        s, name,
        std::to_string(elements) + " elements cannot be divided into " + std::to_string(p) + " equal blocks",
        "pass one block for each rank, or pass the count of a block");
  return elements / p;
}

std::size_t extent_of(const collective_caller& s, parameter counts_name, const counts_view& counts,
                      parameter displs_name, const counts_view& displs, bool displs_given) {
  const auto p = static_cast<std::size_t>(s.blocks(counts_name));
  const auto validate = [&](parameter name, const counts_view& numbers) {
    if (numbers.size() != p)
      reject_call(s, name,
                  "holds " + std::to_string(numbers.size()) + " entries for " + std::to_string(p) +
                      (is_neighborhood(s.what) ? " neighbors" : " ranks"),
                  "pass one for each of them");
    for (std::size_t i = 0; i < p; ++i)
      if (numbers.negative(i))
        reject_call(s, name, "the entry of rank " + std::to_string(i) + " is negative",
                    "entries are 0 or more");
  };
  validate(counts_name, counts);
  if (displs_given) validate(displs_name, displs);
  std::size_t end = 0, packed = 0;
  for (std::size_t i = 0; i < p; ++i) {
    const std::size_t reaches = (displs_given ? displs[i] : packed) + counts[i];
    if (reaches < counts[i]) reject_call(s, counts_name, "the sum exceeds the address space", "");
    packed += counts[i];
    if (counts[i] != 0 && reaches > end) end = reaches;
  }
  return end;
}

std::size_t extent_of_types(const collective_caller& s, parameter counts_name, const counts_view& counts,
                            parameter displs_name, const counts_view& displs, bool displs_given,
                            parameter types_name, std::span<const layout> types) {
  extent_of(s, counts_name, counts, displs_name, displs, displs_given);
  if (types.size() != counts.size())
    reject_call(
        s, types_name,
        "holds " + std::to_string(types.size()) + " layouts for " + std::to_string(counts.size()) + " blocks",
        "pass one for each block");
  std::size_t end = 0, packed = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t at = displs_given ? displs[i] : packed;
    std::size_t length = 0, reaches = 0;
    if (__builtin_mul_overflow(counts[i], types[i].extent(), &length) ||
        __builtin_add_overflow(at, length, &reaches))
      reject_call(s, counts_name, "the sum exceeds the address space", "");
    packed += length;
    if (counts[i] == 0) continue;
    // The last item may end before or beyond its extent.
    for (const layout::piece& p : types[i].pieces())
      end = std::max(end, reaches - types[i].extent() + static_cast<std::size_t>(p.offset) + p.bytes);
  }
  return end;
}

std::size_t count_by_bcast(const collective_caller& s, int root, std::size_t mine) {
  if (s.takes_no_part(root)) mine = 0;
  call c = exchange(s, collective::bcast, &mine, &mine);
  c.root = root;
  run_call(s.where, c);
  if (mine == rejected_count && s.rank != root) throw_peer(s, "rank " + std::to_string(root));
  return mine;
}

std::size_t count_by_scatter(const collective_caller& s, int root, const counts_view& counts, bool rejected) {
  count_array all;
  std::size_t mine = 0;
  call c = exchange(s, collective::scatter, nullptr, &mine);
  if (s.rank == root) {
    std::size_t* to = all.make(static_cast<std::size_t>(s.send_blocks));
    for (int i = 0; i < s.send_blocks; ++i)
      to[i] = rejected ? rejected_count : counts[static_cast<std::size_t>(i)];
    c.input = to;
  }
  c.root = root;
  run_call(s.where, c);
  if (mine == rejected_count && s.rank != root) throw_peer(s, "rank " + std::to_string(root));
  return mine;
}

void validate_entry(const collective_caller& s) {
  const communicator_state& c = s.where.state();
  if (!c.is_current_rank()) [[unlikely]]
    c.validate_entry_slow_path(api_name(s.name).c_str());
}

void counts_by_gather(const collective_caller& s, int root, std::size_t mine, std::size_t* all) {
  call c = exchange(s, collective::gather, &mine, s.rank == root ? all : nullptr);
  c.root = root;
  run_call(s.where, c);
  if (s.rank != root) return;
  int who = -1;
  for (int i = 0; i < s.recv_blocks; ++i)
    if (all[i] == rejected_count) {
      all[i] = 0;
      if (who < 0) who = i;
    }
  if (who >= 0 && mine != rejected_count) throw_peer(s, "rank " + std::to_string(who));
}

void counts_by_allgather(const collective_caller& s, std::size_t mine, std::size_t* all) {
  exchange_blocks(s, collective::allgather, &mine, all);
  if (mine == rejected_count) return;
  for (int i = 0; i < s.recv_blocks; ++i)
    if (all[i] == rejected_count) throw_peer(s, "rank " + std::to_string(i));
}

void counts_by_alltoall(const collective_caller& s, const counts_view* send_counts,
                        std::size_t* recv_counts) {
  count_array sent;
  std::size_t* to = sent.make(static_cast<std::size_t>(s.send_blocks));
  for (int i = 0; i < s.send_blocks; ++i)
    to[i] = send_counts == nullptr ? rejected_count : (*send_counts)[static_cast<std::size_t>(i)];
  exchange_blocks(s, collective::alltoall, to, recv_counts);
  if (send_counts == nullptr) return;
  for (int i = 0; i < s.recv_blocks; ++i)
    if (recv_counts[i] == rejected_count) throw_peer(s, "rank " + std::to_string(i));
}

void put_counts(caller s, parameter n, const counts_view& from, int* to) { put(s, n, from, to); }
void put_counts(caller s, parameter n, const counts_view& from, std::size_t* to) { put(s, n, from, to); }
void put_displs(caller s, parameter n, const counts_view& c, int* to) { put_packed(s, n, c, to); }
void put_displs(caller s, parameter n, const counts_view& c, std::size_t* to) { put_packed(s, n, c, to); }

}  // namespace tutti::detail
