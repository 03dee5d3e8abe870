// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/function_location.hpp"

#include <stdexcept>

#include <link.h>

namespace tutti::lpf {
namespace {

const char* name_of(const dl_phdr_info& file) { return file.dlpi_name != nullptr ? file.dlpi_name : ""; }

bool holds(const dl_phdr_info& file, std::uint64_t address) {
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
std::uint64_t call_key_of(const dl_phdr_info& file) {
  std::uint64_t sum = 14695981039346656037u;
  const auto take = [&](const void* what, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      sum = (sum ^ static_cast<const unsigned char*>(what)[i]) * 1099511628211u;
  };
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const auto& part = file.dlpi_phdr[i];
    if (part.p_type == PT_LOAD || part.p_type == PT_NOTE) take(&part, sizeof part);
    if (part.p_type == PT_NOTE)
      take(reinterpret_cast<const void*>(file.dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return sum;
}

struct search {
  function_location place;
  std::uint64_t address = 0;
  bool found = false;
};

int look_by_address(dl_phdr_info* file, std::size_t, void* data) {
  auto& s = *static_cast<search*>(data);
  if (!holds(*file, s.address)) return 0;
  s.place = {name_of(*file), s.address - file->dlpi_addr, call_key_of(*file), false};
  s.found = true;
  return 1;
}

int look_by_name(dl_phdr_info* file, std::size_t, void* data) {
  auto& s = *static_cast<search*>(data);
  if (s.place.file != name_of(*file) || s.place.call_key != call_key_of(*file)) return 0;
  s.address = file->dlpi_addr + s.place.offset;
  s.found = holds(*file, s.address);
  return 1;
}

}  // namespace

function_location place_of(void (*function)()) {
  if (function == nullptr) return {"", 0, 0, true};
  search s;
  s.address = reinterpret_cast<std::uint64_t>(function);
  dl_iterate_phdr(&look_by_address, &s);
  if (!s.found)
    throw std::runtime_error(
        "a function is in no file, so other processes cannot find it (remedy: pass functions of the "
        "program or of its libraries)");
  return s.place;
}

void (*function_at(const function_location& place))() {
  if (place.null) return nullptr;
  search s;
  s.place = place;
  dl_iterate_phdr(&look_by_name, &s);
  if (!s.found)
    throw std::runtime_error(
        "a function is in " + (place.file.empty() ? "another program" : place.file) +
        ", which is not loaded here (remedy: start the same program everywhere, and link "
        "its libraries instead of loading them later)");
  return reinterpret_cast<void (*)()>(s.address);
}

}  // namespace tutti::lpf
