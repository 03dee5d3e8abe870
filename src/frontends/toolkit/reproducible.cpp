// SPDX-License-Identifier: Apache-2.0
//
// Reductions with a fixed tree, so that results do not depend on the number of ranks. A subtree is
// [i, i + 2^k) with i a multiple of 2^k. The array is extended to a power of two; positions beyond
// the last element have no value. A range of elements is represented by a forest: the values of its
// largest complete subtrees. The range determines these subtrees, so a forest does not depend on
// how it was built. Joining adjacent forests is associative, so any algorithm of reduce may do it.
#include "tutti/reproducible.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tutti/error.hpp"

namespace tutti {
namespace detail {
namespace {

// The header of a forest. Its values follow, in the order of their elements.
struct stretch {
  std::uint64_t begin, end;
};
static_assert(sizeof(stretch) == 16, "values behind it must lie at multiples of their alignment");

// The largest complete subtree of [at, end) that begins at `at`.
std::uint64_t subtree_at(std::uint64_t at, std::uint64_t end) {
  const std::uint64_t fits = std::bit_floor(end - at);
  return at == 0 ? fits : std::min(fits, at & (~at + 1));
}

struct joining {
  const tree_operation& op;
  std::uint64_t elements;  // of the whole array
  std::size_t bytes;       // of a forest
};

// Builds a forest: takes subtrees from left to right, and combines two halves of one subtree.
class forest {
 public:
  forest(const joining& by, std::byte* values) : by_(by), values_(values) {}

  std::byte* next() { return value(known_); }
  // Adds a subtree whose value is at next(), or that has none.
  void push(std::uint64_t begin, std::uint64_t length) {
    begins_[known_] = begin;
    lengths_[known_++] = length;
    while (known_ > 1 && lengths_[known_ - 2] == lengths_[known_ - 1] &&
           (begins_[known_ - 2] & lengths_[known_ - 2]) == 0) {
      --known_;
      if (begins_[known_] < by_.elements)
        by_.op.combine(value(known_ - 1), value(known_), value(known_ - 1), 1, by_.op.state);
      lengths_[known_ - 1] *= 2;
    }
  }
  // Adds all subtrees of a range. `values` may equal their destination.
  void push_all(const stretch& s, const std::byte* values) {
    for (std::uint64_t at = s.begin; at < s.end;) {
      const std::uint64_t length = subtree_at(at, s.end);
      if (at < by_.elements) {
        if (values != next()) std::memcpy(next(), values, by_.op.bytes);
        values += by_.op.bytes;
      }
      push(at, length);
      at += length;
    }
  }

 private:
  std::byte* value(std::size_t i) { return values_ + i * by_.op.bytes; }

  const joining& by_;
  std::byte* values_;
  std::size_t known_ = 0;
  // Two for each height of the tree, and one that is being added.
  std::uint64_t begins_[130], lengths_[130];
};

// Memory for one forest, usually on the stack.
class forest_memory {
 public:
  explicit forest_memory(std::size_t bytes) {
    if (bytes > sizeof small_) large_.reset(new std::byte[bytes]);
  }
  std::byte* data() { return large_ ? large_.get() : small_; }

 private:
  alignas(16) std::byte small_[4096];
  std::unique_ptr<std::byte[]> large_;
};

void join(const std::byte* left, const std::byte* right, std::byte* result, const joining& by) {
  forest_memory copied(result == right ? by.bytes : 0);
  if (result == right) {
    std::memcpy(copied.data(), right, by.bytes);
    right = copied.data();
  }
  stretch first, second;
  std::memcpy(&first, left, sizeof first);
  std::memcpy(&second, right, sizeof second);
  forest made(by, result + sizeof(stretch));
  made.push_all(first, left + sizeof(stretch));
  made.push_all(second, right + sizeof(stretch));
  const stretch both{first.begin, second.end};
  std::memcpy(result, &both, sizeof both);
}

void join_all(const void* left, const void* right, void* result, std::size_t n, void* state) {
  const joining& by = *static_cast<const joining*>(state);
  for (std::size_t i = 0; i < n * by.bytes; i += by.bytes)
    join(static_cast<const std::byte*>(left) + i, static_cast<const std::byte*>(right) + i,
         static_cast<std::byte*>(result) + i, by);
}

}  // namespace

class array_part {
 public:
  array_part(const communicator& ranks, std::size_t count) : ranks_(ranks), count_(count) {
    begin_ = ranks.exscan_single(send_buf(count), op(std::plus<>{}));
    elements_ = ranks.allreduce_single(send_buf(count), op(std::plus<>{}));
    padded_ = std::bit_ceil(elements_);
  }

  std::size_t begin() const noexcept { return begin_; }
  std::size_t elements() const noexcept { return elements_; }

  void reduce(const char* operation, const void* elements, std::size_t count, int root, void* result,
              const tree_operation& op) {
    if (count != count_)
      throw usage_error(operation, ranks_.rank(), "send_buf",
                        "holds " + std::to_string(count) + " elements, but this rank has " +
                            std::to_string(count_) + " of the array",
                        "pass as many elements as the array was made for");
    if (elements_ == 0)
      throw usage_error(operation, ranks_.rank(), "send_buf", "no rank has any element",
                        "an empty array has no value; check size() first");
    const std::size_t most = 2 * static_cast<std::size_t>(std::bit_width(padded_)) + 2;
    joining by{op, elements_, (sizeof(stretch) + most * op.bytes + 15) / 16 * 16};
    if (own_.size() != by.bytes) {
      own_.assign(by.bytes, std::byte{});
      whole_.assign(by.bytes, std::byte{});
    }
    combine_own(static_cast<const std::byte*>(elements), by);
    call c;
    c.what = root < 0 ? collective::allreduce : collective::reduce;
    c.label = operation;
    c.root = std::max(root, 0);
    c.type = {by.bytes, element_kind::opaque, {}};
    c.count = 1;
    c.input = own_.data();
    c.output = whole_.data();
    c.op.combine = &join_all;
    c.op.state = &by;
    run_call(detail::impl_of(ranks_), c);
    if (root < 0 || root == ranks_.rank()) std::memcpy(result, whole_.data() + sizeof(stretch), op.bytes);
  }

 private:
  // The end of the array counts as the end of the power of two.
  std::uint64_t position(std::uint64_t at) const { return at == elements_ ? padded_ : at; }

  void combine_own(const std::byte* elements, const joining& by) {
    const stretch mine{position(begin_), position(begin_ + count_)};
    std::memcpy(own_.data(), &mine, sizeof mine);
    forest made(by, own_.data() + sizeof mine);
    for (std::uint64_t at = mine.begin; at < mine.end;) {
      const std::uint64_t length = subtree_at(at, mine.end);
      if (at < elements_)
        by.op.combine_all(elements + (at - begin_) * by.op.bytes, std::min(length, elements_ - at),
                          made.next(), by.op.state);
      made.push(at, length);
      at += length;
    }
  }

  communicator ranks_;
  std::size_t count_, begin_;
  std::uint64_t elements_, padded_;
  std::vector<std::byte> own_, whole_;  // forests; operator new aligns them to 16
};

array_part* make_array_part(const communicator& ranks, std::size_t count) {
  return new array_part(ranks, count);
}
void delete_array_part(array_part* part) noexcept { delete part; }
void reduce_tree(array_part& part, const char* operation, const void* elements, std::size_t count, int root,
                 void* result, const tree_operation& op) {
  part.reduce(operation, elements, count, root, result, op);
}

}  // namespace detail

std::size_t reproducible::size() const noexcept { return part_->elements(); }
std::size_t reproducible::begin() const noexcept { return part_->begin(); }

}  // namespace tutti
