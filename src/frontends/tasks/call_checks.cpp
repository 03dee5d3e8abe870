// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/call_checks.hpp"

#include <string>

#include "tutti/detail/abi.hpp"

namespace tutti::tasks {

void call_checks::refuse_kernel(const char* operation) const {
  refuse(operation, "", "is called from a kernel", "call it from the rank's own thread");
}

void call_checks::refuse_rank(const char* operation, const char* parameter, int r) const {
  refuse(operation, parameter,
         "is " + std::to_string(r) + ", but ranks are 0 to " + std::to_string(ranks_.size() - 1),
         "name a rank of the runtime's communicator");
}

void call_checks::refuse_handle(const char* operation) const {
  refuse(operation, "handle", "is of another runtime", "give handles that this runtime has made");
}

void call_checks::refuse_tag(const char* operation, long tag) const {
  refuse(operation, "tag", "is " + std::to_string(tag), "give one from 0 on");
}

void call_checks::refuse_used_tag(const char* operation, long tag) const {
  refuse(operation, "tag", "is " + std::to_string(tag) + ", which another datum of this rank has",
         "give each its own");
}

void call_checks::transfer(const char* operation, const explicit_transfer& t, bool sends) const {
  thread(operation);
  if (t.what == nullptr) refuse(operation, "handle", "is empty", "give one that data() has returned");
  handle(operation, *t.what);
  const char* const whom = sends ? "dest" : "src";
  const int size = t.where != nullptr ? detail::size_of(*t.where) : ranks_.size();
  if ((t.peer < 0 || t.peer >= size) && (sends || t.peer != rank::any))
    refuse(operation, whom,
           "is " + std::to_string(t.peer) + ", but ranks are 0 to " + std::to_string(size - 1),
           sends ? "name a rank" : "name a rank, or rank::any");
  if (t.tag < 0 && (sends || t.tag != tags::any))
    refuse(operation, "tag", "is " + std::to_string(t.tag) + ", but tags are from 0 on",
           sends ? "choose one of these" : "choose one of these, or tags::any");
  if (t.where != nullptr && t.tag >= 0 &&
      static_cast<unsigned>(t.tag) > t.where->p2p_messages(operation).max_tag())
    refuse(operation, "tag", "is " + std::to_string(t.tag) + ", which is beyond what the engine has",
           "choose a lower one");
  if (sends && !t.what->readable && t.what->home != ranks_.rank())
    refuse(operation, "handle", "is of " + name_of(*t.what) + ", of which this rank has no contents",
           "fetch() it first");
}

}  // namespace tutti::tasks
