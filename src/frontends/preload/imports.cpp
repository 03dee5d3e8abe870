// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/imports.hpp"

#include <cstdint>

#include <link.h>

namespace tutti::preload {
namespace {

bool belongs_to_mpi(std::string_view path) noexcept {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const std::string_view begin : {"libmpi", "libpmpi", "libopen-", "liboshmem", "libtutti"})
    if (file.starts_with(begin)) return true;
  return false;
}

// The loader has added the address of the object to these pointers, except to those of the vDSO.
template <class T>
const T* pointer(const dl_phdr_info& object, ElfW(Addr) value) noexcept {
  return reinterpret_cast<const T*>(value < object.dlpi_addr ? object.dlpi_addr + value : value);
}

// An object with a GNU hash table lists the functions that it imports first.
bool imports(const dl_phdr_info& object, std::string_view name) noexcept {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  if (entry == nullptr) return false;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  std::uint32_t imported = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = pointer<ElfW(Sym)>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) names = pointer<char>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) imported = pointer<std::uint32_t>(object, entry->d_un.d_ptr)[1];
    if (entry->d_tag == DT_HASH && imported == 0)
      imported = pointer<std::uint32_t>(object, entry->d_un.d_ptr)[1];
  }
  if (symbols == nullptr || names == nullptr) return false;
  for (std::uint32_t i = 1; i < imported; ++i)
    if (symbols[i].st_shndx == SHN_UNDEF && names + symbols[i].st_name == name) return true;
  return false;
}

}  // namespace

bool is_imported(std::string_view name) noexcept {
  const auto visit = [](dl_phdr_info* object, std::size_t, void* wanted) {
    return !belongs_to_mpi(object->dlpi_name) && imports(*object, *static_cast<std::string_view*>(wanted))
               ? 1
               : 0;
  };
  return dl_iterate_phdr(visit, &name) != 0;
}

}  // namespace tutti::preload
