// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/imports.hpp"

#include <cstdint>

#include <dlfcn.h>
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

// The symbols that an object imports precede those of its GNU hash table. Linkers write such a
// table also for objects that export nothing, and then it does not show where imports end. Names
// follow the symbols.
std::size_t symbols_to_search(const std::uint32_t* gnu_hash, const ElfW(Sym) * symbols, const char* names) {
  const auto all = static_cast<std::size_t>(names - reinterpret_cast<const char*>(symbols)) / sizeof *symbols;
  if (gnu_hash == nullptr) return all;
  const std::uint32_t buckets = gnu_hash[0], first = gnu_hash[1], words_of_filter = gnu_hash[2];
  const auto* const bucket = reinterpret_cast<const std::uint32_t*>(
      reinterpret_cast<const ElfW(Addr)*>(gnu_hash + 4) + words_of_filter);
  for (std::uint32_t i = 0; i < buckets; ++i)
    if (bucket[i] != 0) return first;
  return all;
}

bool imports(const dl_phdr_info& object, std::string_view begin) noexcept {
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  if (entry == nullptr) return false;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = pointer<ElfW(Sym)>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) names = pointer<char>(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_GNU_HASH) gnu_hash = pointer<std::uint32_t>(object, entry->d_un.d_ptr);
  }
  if (symbols == nullptr || names == nullptr || names < reinterpret_cast<const char*>(symbols)) return false;
  for (std::size_t i = 1, end = symbols_to_search(gnu_hash, symbols, names); i < end; ++i)
    if (symbols[i].st_shndx == SHN_UNDEF && std::string_view(names + symbols[i].st_name).starts_with(begin))
      return true;
  return false;
}

}  // namespace

bool is_imported(std::string_view begin) noexcept {
  const auto visit = [](dl_phdr_info* object, std::size_t, void* prefix) {
    return !belongs_to_mpi(object->dlpi_name) && imports(*object, *static_cast<std::string_view*>(prefix))
               ? 1
               : 0;
  };
  return dl_iterate_phdr(visit, &begin) != 0;
}

bool is_in_mpi(const void* function) noexcept {
  Dl_info of{};
  return dladdr(function, &of) != 0 && of.dli_fname != nullptr && belongs_to_mpi(of.dli_fname);
}

}  // namespace tutti::preload
