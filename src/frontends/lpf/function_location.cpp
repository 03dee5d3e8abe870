// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/function_location.hpp"

#include <stdexcept>

#include <link.h>

namespace tutti::lpf {
namespace {

const char* name_of(const dl_phdr_info& file) { return file.dlpi_name != nullptr ? file.dlpi_name : ""; }

bool contains(const dl_phdr_info& file, std::uint64_t address) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const auto& part = file.dlpi_phdr[i];
    const std::uint64_t from = file.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && address >= from &&
        address < from + part.p_memsz)
      return true;
  }
  return false;
}

// FNV-1a hash of the headers that describe the file's layout in memory, and of its build id if it
// has one.
std::uint64_t hash_layout(const dl_phdr_info& file) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&](const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  };
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const auto& part = file.dlpi_phdr[i];
    if (part.p_type == PT_LOAD || part.p_type == PT_NOTE) add(&part, sizeof part);
    if (part.p_type == PT_NOTE)
      add(reinterpret_cast<const void*>(file.dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return hash;
}

struct search {
  function_location location;
  std::uint64_t address = 0;
  bool found = false;
};

int find_by_address(dl_phdr_info* file, std::size_t, void* data) {
  auto& s = *static_cast<search*>(data);
  if (!contains(*file, s.address)) return 0;
  s.location = {name_of(*file), s.address - file->dlpi_addr, hash_layout(*file), false};
  s.found = true;
  return 1;
}

int find_by_name(dl_phdr_info* file, std::size_t, void* data) {
  auto& s = *static_cast<search*>(data);
  if (s.location.file != name_of(*file) || s.location.layout_hash != hash_layout(*file)) return 0;
  s.address = file->dlpi_addr + s.location.offset;
  s.found = contains(*file, s.address);
  return 1;
}

}  // namespace

function_location location_of(void (*function)()) {
  if (function == nullptr) return {"", 0, 0, true};
  search s;
  s.address = reinterpret_cast<std::uint64_t>(function);
  dl_iterate_phdr(&find_by_address, &s);
  if (!s.found)
    throw std::runtime_error(
        "a function is in no file, so other processes cannot find it; pass functions of the "
        "program or of its libraries");
  return s.location;
}

void (*function_at(const function_location& location))() {
  if (location.null) return nullptr;
  search s;
  s.location = location;
  dl_iterate_phdr(&find_by_name, &s);
  if (!s.found)
    throw std::runtime_error("a function is in " +
                             (location.file.empty() ? "another program" : location.file) +
                             ", which is not loaded here; start the same program everywhere, and link "
                             "its libraries instead of loading them later");
  return reinterpret_cast<void (*)()>(s.address);
}

}  // namespace tutti::lpf
