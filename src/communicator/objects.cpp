// SPDX-License-Identifier: Apache-2.0
#include "tutti/detail/objects.hpp"

#include <string>

namespace tutti::detail {

void reject_short(caller s, parameter name, std::size_t needed, std::size_t remaining) {
  reject_message(s, name,
                 "the message ends too soon: " + std::to_string(needed) + " more bytes are needed, but " +
                     std::to_string(remaining) + " are left");
}

void reject_long(caller s, parameter name, std::size_t remaining) {
  reject_message(s, name, std::to_string(remaining) + " bytes of the message are left after the object");
}

void writer::reject_changed() const {
  reject_call(site_, name_, "changed its length during serialization",
              "its serialize() must pass the same members each time");
}

void writer::reject_depth() const {
  reject_call(site_, name_, "has more than " + std::to_string(max_object_depth) + " levels of nested objects",
              "send deeply nested data, such as a long list of pointers, in a container");
}

void writer::reject_valueless() const {
  reject_call(site_, name_, "has a variant that is valueless by exception", "assign a value to it");
}

void reader::reject_flag() const { reject_message(site_, name_, "a byte that must be 0 or 1 is neither"); }

void reader::reject_number(std::uint64_t n) const {
  reject_message(site_, name_,
                 "the message announces " + std::to_string(n) + " elements, but only " +
                     std::to_string(remaining_) + " bytes are left");
}

void reader::reject_alternative() const { reject_message(site_, name_, "a variant has no such alternative"); }

void reader::reject_depth() const {
  reject_message(site_, name_,
                 "more than " + std::to_string(max_object_depth) + " levels of objects are nested");
}

void validate_objects(const collective_caller& s, object_site at, int root, std::size_t objects) {
  const auto needed = static_cast<std::size_t>(s.send_blocks);
  if (objects == needed) return;
  if (s.what == collective::scatterv) {
    count_by_scatter(s, root, {}, true);
  } else {
    count_array unread;
    counts_by_alltoall(s, nullptr, unread.make(static_cast<std::size_t>(s.recv_blocks)));
  }
  reject_call(s, at.name,
              "has " + std::to_string(objects) + " objects for " + std::to_string(needed) + " ranks",
              "pass one object for each rank");
}

}  // namespace tutti::detail
