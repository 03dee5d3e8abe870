// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/uncaught_exception.hpp"

#include <exception>
#include <typeinfo>

#include "tutti/error.hpp"

namespace tutti::mpi {

uncaught_exception& current_uncaught_exception() noexcept {
  thread_local uncaught_exception one;
  return one;
}

#ifdef __GLIBCXX__

// The search of libstdc++ for a handler calls __do_catch(). `object` points to the address of the
// exception, which __do_catch() replaces by that of the base class if it matches.
class probe_type final : public std::type_info {
 public:
  probe_type() noexcept : std::type_info("tutti::mpi::uncaught_probe") {}

  bool __do_catch(const std::type_info* thrown, void** object, unsigned depth) const override {
    const auto is = [&](const std::type_info& caught, void*& address) {
      address = *object;
      return caught.__do_catch(thrown, &address, depth);
    };
    void* address = nullptr;
    uncaught_exception& one = current_uncaught_exception();
    one.is_peer_error = is(typeid(peer_error), address);
    one.text = is(typeid(std::exception), address) ? static_cast<const std::exception*>(address)->what()
                                                   : "an exception that is not a std::exception";
    return false;
  }
};

// The name by which a catch clause refers to the type.
extern const probe_type type_of_probe asm("_ZTIN5tutti3mpi14uncaught_probeE");
const probe_type type_of_probe;

#else  // another runtime calls other functions, so the exception stays unknown
void uncaught_probe::key() const {}
#endif

}  // namespace tutti::mpi
