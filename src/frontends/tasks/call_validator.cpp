// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/call_validator.hpp"

#include <string>

#include "tutti/detail/abi.hpp"

namespace tutti::tasks {

void call_validator::reject_kernel(const char* operation) const {
  reject(operation, "", "is called from a kernel", "call it from the rank's own thread");
}

void call_validator::reject_rank(const char* operation, const char* parameter, int r) const {
  reject(operation, parameter,
         "is " + std::to_string(r) + ", but ranks are 0 to " + std::to_string(size_ - 1),
         "name a rank of the runtime's communicator");
}

void call_validator::reject_handle(const char* operation) const {
  reject(operation, "handle", "belongs to another runtime", "pass handles that this runtime created");
}

void call_validator::reject_tag(const char* operation, long tag) const {
  reject(operation, "tag", "is " + std::to_string(tag), "pass a tag of 0 or more");
}

void call_validator::reject_used_tag(const char* operation, long tag) const {
  reject(operation, "tag", "is " + std::to_string(tag) + ", which another data handle of this rank has",
         "pass a different tag for each");
}

void call_validator::transfer(const char* operation, const explicit_transfer& t, bool sends) const {
  entry(operation);
  if (t.what == nullptr) reject(operation, "handle", "is empty", "pass one that data() returned");
  handle(operation, *t.what);
  const char* const whom = sends ? "dest" : "src";
  const int size = t.where != nullptr ? detail::size_of(*t.where) : size_;
  if ((t.peer < 0 || t.peer >= size) && (sends || t.peer != rank::any))
    reject(operation, whom,
           "is " + std::to_string(t.peer) + ", but ranks are 0 to " + std::to_string(size - 1),
           sends ? "name a rank" : "name a rank, or rank::any");
  if (t.tag < 0 && (sends || t.tag != tags::any))
    reject(operation, "tag", "is " + std::to_string(t.tag) + ", but tags are 0 or more",
           sends ? "choose one of these" : "choose one of these, or tags::any");
  if (t.where != nullptr && t.tag >= 0 &&
      static_cast<unsigned>(t.tag) > detail::message_queue_of(*t.where, operation).max_tag())
    reject(operation, "tag", "is " + std::to_string(t.tag) + ", which exceeds the largest tag of the engine",
           "choose a lower one");
  if (sends && !t.what->readable && t.what->home != detail::rank_of(ranks_))
    reject(operation, "handle", "refers to " + name_of(*t.what) + ", of which this rank has no copy",
           "fetch() it first");
}

}  // namespace tutti::tasks
