// SPDX-License-Identifier: Apache-2.0
//
// The memory of shared_allocator: that of the process, or else ordinary memory.
#include "tutti/shared_allocator.hpp"

#include <algorithm>
#include <cstdlib>

#include "transport/shm/shared_arena.hpp"

namespace tutti::detail {

bool expect_shared_memory() noexcept {
  shm::shared_arena::expect();
  return true;
}

void* allocate_shared(std::size_t bytes, std::size_t alignment) {
  if (void* const memory = shm::shared_arena::try_allocate(bytes, alignment)) return memory;
  const std::size_t used = std::max(alignment, sizeof(void*));
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + used - 1) / used * used;
  void* const ordinary = rounded < bytes ? nullptr : std::aligned_alloc(used, rounded);
  if (ordinary == nullptr) throw std::bad_alloc();
  return ordinary;
}

void free_shared(void* memory) noexcept {
  if (!shm::shared_arena::deallocate(memory)) std::free(memory);
}

}  // namespace tutti::detail
