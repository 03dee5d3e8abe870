// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/kernel_node.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "frontends/tasks/ready_queue.hpp"

namespace tutti::tasks {

kernel_node::kernel_node(const kernel_operations& k, std::size_t arguments, const char* name,
                         std::uint64_t id)
    : node(true), kernel_(&k), name_(name), id_(id), size_(static_cast<std::uint32_t>(arguments)) {
  const std::size_t bytes = arguments * sizeof(argument);
  const std::size_t at = (bytes + k.alignment - 1) / k.alignment * k.alignment;
  std::byte* memory = local_;
  if (at + k.size > sizeof local_ || k.alignment > 16) {
    const std::size_t alignment = k.alignment > 16 ? k.alignment : 16;
    heap_ = static_cast<std::byte*>(::operator new (at + k.size, std::align_val_t{alignment}));
    memory = heap_;
  }
  arguments_ = reinterpret_cast<argument*>(memory);
  for (std::size_t i = 0; i < arguments; ++i) new (arguments_ + i) argument;
  closure_ = memory + at;
}

kernel_node::~kernel_node() {
  if (heap_ != nullptr)
    ::operator delete (heap_, std::align_val_t{kernel_->alignment > 16 ? kernel_->alignment : 16});
}

const failure* kernel_node::first_poisoned() const noexcept {
  for (std::size_t i = 0; i < size_; ++i) {
    const argument& a = arguments_[i];
    const contents* const read = a.initial != nullptr ? a.initial : a.target;
    if (a.reads && read->poisoned != nullptr) return read->poisoned;
  }
  return nullptr;
}

void kernel_node::start(ready_queue& queue) {
  const failure* poisoned = first_poisoned();
  if (poisoned == nullptr) {
    constexpr std::size_t inline_count = 12;
    kernel_buffer inline_buffers[inline_count];
    std::unique_ptr<kernel_buffer[]> heap_buffers;
    kernel_buffer* buffers = inline_buffers;
    if (size_ > inline_count) buffers = (heap_buffers = std::make_unique<kernel_buffer[]>(size_)).get();
    for (std::size_t i = 0; i < size_; ++i) {
      const argument& a = arguments_[i];
      if (a.initial != nullptr) std::memcpy(a.target->data, a.initial->data, a.bytes());
      if (a.op != nullptr && a.op->neutral != nullptr) a.op->neutral(a.target->data, a.count);
      buffers[i] = {a.target->data, a.count};
    }
    try {
      kernel_->run(closure_, buffers);
      queue.count_kernel();
    } catch (const std::exception& e) {
      poisoned = queue.failures().add_thrown(description(), e.what(), std::current_exception());
    } catch (...) {
      poisoned = queue.failures().add_thrown(description(), "an exception that is not a std::exception",
                                             std::current_exception());
    }
  }
  for (std::size_t i = 0; i < size_; ++i)
    if (arguments_[i].writes) arguments_[i].target->poisoned = poisoned;
  end_closure();
}

void kernel_node::end_closure() noexcept {
  if (!std::exchange(ended_, true) && kernel_->destroy != nullptr) kernel_->destroy(closure_);
}

void kernel_node::release_resources() noexcept {
  end_closure();
  for (std::size_t i = 0; i < size_; ++i) {
    arguments_[i].target->release();
    if (arguments_[i].initial != nullptr) arguments_[i].initial->release();
  }
}

std::string kernel_node::description() const {
  return name_ != nullptr ? "task \"" + std::string(name_) + "\"" : "task " + std::to_string(id_);
}

void combine_node::start(ready_queue&) {
  if (into_.poisoned == nullptr) into_.poisoned = part_.poisoned;
  if (into_.poisoned == nullptr) op_.combine(into_.data, part_.data, into_.data, n_, nullptr);
}

}  // namespace tutti::tasks
