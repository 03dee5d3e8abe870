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

#include "communicator/internal_calls.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace detail {
namespace {

// The header of a forest. Its values follow, in the order of their elements.
struct element_range {
  std::uint64_t begin, end;
};
static_assert(sizeof(element_range) == 16, "values behind it must lie at multiples of their alignment");

// The largest complete subtree of [at, end) that begins at `at`.
std::uint64_t subtree_at(std::uint64_t at, std::uint64_t end) {
  const std::uint64_t fits = std::bit_floor(end - at);
  return at == 0 ? fits : std::min(fits, at & (~at + 1));
}

struct join_context {
  const tree_operation& op;
  std::uint64_t elements;  // of the array on all ranks
  std::size_t bytes;       // of a forest
};

// Builds a forest: takes subtrees from left to right, and combines two halves of one subtree.
class forest {
 public:
  forest(const join_context& context, std::byte* values) : context_(context), values_(values) {}

  std::byte* next() { return value(size_); }
  // Adds a subtree whose value is at next(), or that has none.
  void push(std::uint64_t begin, std::uint64_t length) {
    begins_[size_] = begin;
    lengths_[size_++] = length;
    while (size_ > 1 && lengths_[size_ - 2] == lengths_[size_ - 1] &&
           (begins_[size_ - 2] & lengths_[size_ - 2]) == 0) {
      --size_;
      if (begins_[size_] < context_.elements)
        context_.op.combine(value(size_ - 1), value(size_), value(size_ - 1), 1, context_.op.state);
      lengths_[size_ - 1] *= 2;
    }
  }
  // Adds all subtrees of a range. `values` may equal their destination.
  void push_all(const element_range& s, const std::byte* values) {
    for (std::uint64_t at = s.begin; at < s.end;) {
      const std::uint64_t length = subtree_at(at, s.end);
      if (at < context_.elements) {
        if (values != next()) std::memcpy(next(), values, context_.op.bytes);
        values += context_.op.bytes;
      }
      push(at, length);
      at += length;
    }
  }

 private:
  std::byte* value(std::size_t i) { return values_ + i * context_.op.bytes; }

  const join_context& context_;
  std::byte* values_;
  std::size_t size_ = 0;
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

void join(const std::byte* left, const std::byte* right, std::byte* result, const join_context& context) {
  forest_memory copied(result == right ? context.bytes : 0);
  if (result == right) {
    std::memcpy(copied.data(), right, context.bytes);
    right = copied.data();
  }
  element_range first, second;
  std::memcpy(&first, left, sizeof first);
  std::memcpy(&second, right, sizeof second);
  forest made(context, result + sizeof(element_range));
  made.push_all(first, left + sizeof(element_range));
  made.push_all(second, right + sizeof(element_range));
  const element_range both{first.begin, second.end};
  std::memcpy(result, &both, sizeof both);
}

void join_all(const void* left, const void* right, void* result, std::size_t n, void* state) {
  const join_context& context = *static_cast<const join_context*>(state);
  for (std::size_t i = 0; i < n * context.bytes; i += context.bytes)
    join(static_cast<const std::byte*>(left) + i, static_cast<const std::byte*>(right) + i,
         static_cast<std::byte*>(result) + i, context);
}

}  // namespace

class array_part {
 public:
  array_part(const communicator& ranks, std::size_t count) : ranks_(ranks), count_(count) {
    begin_ = ranks.exscan_single(send_buf(count), op(std::plus<>{}));
    const deferred_rejections steps(count_of_deferrals(impl_of(ranks)));
    elements_ = ranks.allreduce_single(send_buf(count), op(std::plus<>{}));
    padded_ = std::bit_ceil(elements_);
  }

  const communicator& ranks() const noexcept { return ranks_; }
  std::size_t begin() const noexcept { return begin_; }
  std::size_t elements() const noexcept { return elements_; }

  void reduce(const char* operation, const void* elements, std::size_t count, int root, void* result,
              const tree_operation& op) {
    if (count != count_)
      reject(impl_of(ranks_), operation, "send_buf",
             "holds " + std::to_string(count) + " elements, but this rank has " + std::to_string(count_) +
                 " of the array",
             "pass as many elements as the array was made for");
    if (elements_ == 0)
      reject(impl_of(ranks_), operation, "send_buf", "no rank has any element",
             "an empty array has no value; check size() first");
    const std::size_t max_subtrees = 2 * static_cast<std::size_t>(std::bit_width(padded_)) + 2;
    join_context context{op, elements_, (sizeof(element_range) + max_subtrees * op.bytes + 15) / 16 * 16};
    if (local_.size() != context.bytes) {
      local_.assign(context.bytes, std::byte{});
      result_.assign(context.bytes, std::byte{});
    }
    combine_local(static_cast<const std::byte*>(elements), context);
    call c;
    c.what = root < 0 ? collective::allreduce : collective::reduce;
    c.label = operation;
    c.root = std::max(root, 0);
    c.type = {context.bytes, element_kind::opaque, {}};
    c.count = 1;
    c.input = local_.data();
    c.output = result_.data();
    c.op.combine = &join_all;
    c.op.state = &context;
    run_call(detail::impl_of(ranks_), c);
    if (root < 0 || root == ranks_.rank())
      std::memcpy(result, result_.data() + sizeof(element_range), op.bytes);
  }

 private:
  // The end of the array counts as the end of the power of two.
  std::uint64_t position(std::uint64_t at) const { return at == elements_ ? padded_ : at; }

  void combine_local(const std::byte* elements, const join_context& context) {
    const element_range mine{position(begin_), position(begin_ + count_)};
    std::memcpy(local_.data(), &mine, sizeof mine);
    forest made(context, local_.data() + sizeof mine);
    for (std::uint64_t at = mine.begin; at < mine.end;) {
      const std::uint64_t length = subtree_at(at, mine.end);
      if (at < elements_)
        context.op.combine_all(elements + (at - begin_) * context.op.bytes, std::min(length, elements_ - at),
                               made.next(), context.op.state);
      made.push(at, length);
      at += length;
    }
  }

  communicator ranks_;
  std::size_t count_, begin_;
  std::uint64_t elements_, padded_;
  std::vector<std::byte> local_, result_;  // forests; operator new aligns them to 16
};

array_part* make_array_part(const communicator& ranks, std::size_t count, const std::source_location& at) {
  const enclosing_call scope(impl_of(ranks), "reproducible", at);
  return new array_part(ranks, count);
}
void delete_array_part(array_part* part) noexcept { delete part; }
void reduce_tree(array_part& part, const char* operation, const std::source_location& at,
                 const void* elements, std::size_t count, int root, void* result, const tree_operation& op) {
  const enclosing_call scope(impl_of(part.ranks()), operation, at);
  part.reduce(operation, elements, count, root, result, op);
}

}  // namespace detail

std::size_t reproducible::size() const noexcept { return part_->elements(); }
std::size_t reproducible::begin() const noexcept { return part_->begin(); }

}  // namespace tutti
