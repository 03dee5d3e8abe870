// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/kernel_node.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "frontends/tasks/ready_queue.hpp"

namespace tutti::tasks {

kernel_node::kernel_node(const code& c, std::size_t arguments, const char* name, std::uint64_t id)
    : node(true), type_(&c), name_(name), id_(id), size_(static_cast<std::uint32_t>(arguments)) {
  const std::size_t bytes = arguments * sizeof(argument);
  const std::size_t at = (bytes + c.alignment - 1) / c.alignment * c.alignment;
  std::byte* room = local_;
  if (at + c.size > sizeof local_ || c.alignment > 16) {
    const std::size_t alignment = c.alignment > 16 ? c.alignment : 16;
    apart_ = static_cast<std::byte*>(::operator new (at + c.size, std::align_val_t{alignment}));
    room = apart_;
  }
  arguments_ = reinterpret_cast<argument*>(room);
  for (std::size_t i = 0; i < arguments; ++i) new (arguments_ + i) argument;
  closure_ = room + at;
}

kernel_node::~kernel_node() {
  if (apart_ != nullptr)
    ::operator delete (apart_, std::align_val_t{type_->alignment > 16 ? type_->alignment : 16});
}

const failure* kernel_node::first_poisoned() const noexcept {
  for (std::size_t i = 0; i < size_; ++i) {
    const argument& a = arguments_[i];
    const contents* const read = a.from != nullptr ? a.from : a.at;
    if (a.reads && read->poisoned != nullptr) return read->poisoned;
  }
  return nullptr;
}

void kernel_node::go(ready_queue& by) {
  const failure* poisoned = first_poisoned();
  if (poisoned == nullptr) {
    constexpr std::size_t inline_count = 12;
    place few[inline_count];
    std::unique_ptr<place[]> many;
    place* places = few;
    if (size_ > inline_count) places = (many = std::make_unique<place[]>(size_)).get();
    for (std::size_t i = 0; i < size_; ++i) {
      const argument& a = arguments_[i];
      if (a.from != nullptr) std::memcpy(a.at->data, a.from->data, a.bytes());
      if (a.by != nullptr && a.by->neutral != nullptr) a.by->neutral(a.at->data, a.count);
      places[i] = {a.at->data, a.count};
    }
    try {
      type_->run(closure_, places);
      by.count_kernel();
    } catch (const std::exception& e) {
      poisoned = by.failures().add_thrown(what(), e.what(), std::current_exception());
    } catch (...) {
      poisoned = by.failures().add_thrown(what(), "an exception that is not a std::exception",
                                          std::current_exception());
    }
  }
  for (std::size_t i = 0; i < size_; ++i)
    if (arguments_[i].writes) arguments_[i].at->poisoned = poisoned;
  end_closure();
}

void kernel_node::end_closure() noexcept {
  if (!std::exchange(ended_, true) && type_->end != nullptr) type_->end(closure_);
}

void kernel_node::let_go() noexcept {
  end_closure();
  for (std::size_t i = 0; i < size_; ++i) {
    arguments_[i].at->drop();
    if (arguments_[i].from != nullptr) arguments_[i].from->drop();
  }
}

std::string kernel_node::what() const {
  return name_ != nullptr ? "task \"" + std::string(name_) + "\"" : "task " + std::to_string(id_);
}

void combine_node::go(ready_queue&) {
  if (into_.poisoned == nullptr) into_.poisoned = part_.poisoned;
  if (into_.poisoned == nullptr) by_.combine(into_.data, part_.data, into_.data, n_, nullptr);
}

}  // namespace tutti::tasks
