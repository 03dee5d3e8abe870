// SPDX-License-Identifier: Apache-2.0
#include "random_graphs/shapes.hpp"

namespace graphs {
namespace {

namespace tasks = tutti::tasks;
using tasks::use_mode;

template <class Use>
auto argument(any_handle& h) {
  using T = typename Use::value;
  if constexpr (Use::how == use_mode::read)
    return tasks::read(h.get<T>());
  else if constexpr (Use::how == use_mode::write)
    return tasks::write(h.get<T>());
  else if constexpr (Use::how == use_mode::read_write)
    return tasks::read_write(h.get<T>());
  else if constexpr (Use::of == type::stamp)
    return tasks::reduce(h.get<T>(), add_stamps(), tasks::neutral(stamp{0, 0, 0}));
  else
    return tasks::reduce(h.get<T>(), std::plus<>());
}

template <class... Uses, std::size_t... I>
void insert(tasks::runtime& rt, [[maybe_unused]] any_handle* const* data, const insert_options& s,
            std::uint64_t salt, std::uint64_t* checksum, std::index_sequence<I...>) {
  const kernel<Uses...> k{salt, checksum};
  if (s.waits)
    rt.insert(k, tasks::after(s.after), argument<Uses>(*data[I])..., tasks::on(s.on));
  else if (s.on >= 0)
    rt.insert(k, argument<Uses>(*data[I])..., tasks::name("sent to a rank"), tasks::on(s.on));
  else if (s.owner_of != nullptr)
    with(s.owner_type, *s.owner_of, [&](auto& h) {
      rt.insert(k, tasks::on_owner_of(h), argument<Uses>(*data[I])..., tasks::name("with an owner"));
    });
  else
    rt.insert(k, argument<Uses>(*data[I])...);
}

template <class... Uses, std::size_t... I>
void run([[maybe_unused]] const tasks::kernel_buffer* buffers, std::uint64_t salt, std::uint64_t* checksum,
         std::index_sequence<I...>) {
  using tasks::typed::kernel_parameter;
  kernel<Uses...>{salt, checksum}(
      kernel_parameter<typename Uses::value, Uses::how == use_mode::read>::of(buffers[I])...);
}

template <class... Uses>
shape of() {
  return {{Uses::of...},
          {Uses::how...},
          [](tasks::runtime& rt, any_handle* const* data, const insert_options& s, std::uint64_t salt,
             std::uint64_t* checksum) {
            insert<Uses...>(rt, data, s, salt, checksum, std::index_sequence_for<Uses...>());
          },
          [](const tasks::kernel_buffer* buffers, std::uint64_t salt, std::uint64_t* checksum) {
            run<Uses...>(buffers, salt, checksum, std::index_sequence_for<Uses...>());
          }};
}

template <class T>
using R = uses<T, use_mode::read>;
template <class T>
using W = uses<T, use_mode::write>;
template <class T>
using X = uses<T, use_mode::read_write>;
template <class T>
using S = uses<T, use_mode::reduce>;

}  // namespace

const std::vector<shape>& shapes() {
  static const std::vector<shape> all = {
      of<>(),
      of<X<unsigned>>(),
      of<X<numbers>>(),
      of<X<stamp>>(),
      of<W<shorts>>(),
      of<W<unsigned>>(),
      of<R<numbers>>(),
      of<R<unsigned>, R<shorts>>(),
      of<X<unsigned>, R<unsigned>>(),
      of<R<unsigned>, X<unsigned>>(),
      of<W<unsigned>, R<numbers>>(),
      of<X<numbers>, R<numbers>>(),
      of<W<numbers>, R<unsigned>, R<stamp>>(),
      of<X<shorts>, R<numbers>, R<unsigned>>(),
      of<X<stamp>, R<shorts>>(),
      of<X<unsigned>, R<unsigned>, R<unsigned>, R<unsigned>, R<unsigned>>(),
      of<X<numbers>, R<numbers>, R<numbers>>(),
      of<W<unsigned>, W<unsigned>>(),
      of<X<unsigned>, X<numbers>>(),
      of<W<numbers>, X<stamp>, R<unsigned>>(),
      of<X<unsigned>, R<stamp>, W<shorts>, X<unsigned>>(),
      of<S<unsigned>>(),
      of<S<unsigned>, R<unsigned>>(),
      of<S<numbers>, R<unsigned>>(),
      of<R<numbers>, S<numbers>>(),
      of<S<stamp>, R<stamp>>(),
      of<S<shorts>, R<numbers>>(),
      of<S<unsigned>, X<stamp>>(),
      of<S<unsigned>, S<numbers>, R<shorts>>(),
  };
  return all;
}

namespace {

template <class Run>
void over(type t, std::size_t count, void* memory, Run&& run) {
  switch (t) {
    case type::number:
      return run(std::span(static_cast<unsigned*>(memory), count));
    case type::stamp:
      return run(std::span(static_cast<stamp*>(memory), count));
    case type::numbers:
      return run(std::span(static_cast<double*>(memory), count));
    default:
      return run(std::span(static_cast<std::uint16_t*>(memory), count));
  }
}

}  // namespace

void fill(type t, std::size_t count, void* memory, std::uint64_t salt) {
  over(t, count, memory, [&](auto all) { overwrite(all, mixed(salt), false); });
}
void change(type t, std::size_t count, void* memory, std::uint64_t salt) {
  over(t, count, memory, [&](auto all) { overwrite(all, mixed(salt), true); });
}

}  // namespace graphs
