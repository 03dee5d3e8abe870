// SPDX-License-Identifier: Apache-2.0
//
// Writes the named parameters as one document. It evaluates the same rules as the compiler
// (tutti/detail/collective_rules.hpp), so that document and compiler agree on what calls take and
// need.
#include "parameters_document.hpp"

#include <functional>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "communicator/count_exchanges.hpp"
#include "tutti/detail/collective_rules.hpp"
#include "tutti/detail/message_rules.hpp"

namespace tutti::tool {
namespace {

using namespace detail;

constexpr const char* preface = R"(# Named parameters

`tutti list --parameters` writes this page from the table of parameters (`include/tutti/detail/parameter_table.hpp`) and the rules
with which the compiler checks calls (`include/tutti/detail/collective_rules.hpp`, `message_rules.hpp`). To change it, change those
files and run the command again. [The guide](guide/named-parameters.md) introduces the parameters.

## Every parameter

The call reads `name(data)`, creates and returns `name_out()`, and writes `name_out(data)` into `data`. The receive buffer is always
an output, so `recv_buf(...)` is the same as `recv_buf_out(...)`.

| parameter | written | what it is |
| --- | --- | --- |
)";

constexpr const char* calls_preface = R"(
## Every call

All collectives also take @common@. They have the forms `i...` and `..._init`, which take the same parameters; `i...` also takes
`request`. The table above gives the value of a parameter that is left out. Leaving it out costs nothing, unless the last column
names an exchange: one more collective of 8 bytes per rank.

| call | needs | may be given | may be requested | exchanges counts |
| --- | --- | --- | --- | --- |
)";

struct call_row {
  std::string name;
  rules accepted;
  const collective_form* what = nullptr;  // of a collective
};

std::string call_name_of(const collective_form& f) {
  std::string name(name_of(f.what));
  if (f.equal_blocks) name.pop_back();
  return f.single ? name + "_single" : name;
}

std::vector<collective_form> collective_forms() {
  std::vector<collective_form> all;
  for (std::size_t i = 0; i < collective_names.size(); ++i) {
    const auto what = static_cast<collective>(i);
    if (is_neighborhood(what)) all.push_back({what, mode::blocking, false, true});
    all.push_back({what});
    switch (what) {
      case collective::bcast:
      case collective::reduce:
      case collective::allreduce:
      case collective::scatter:
      case collective::scan:
      case collective::exscan:
        all.push_back({what, mode::blocking, true});
        break;
      default:
        break;
    }
  }
  return all;
}

std::vector<call_row> all_calls() {
  static const std::vector<collective_form> forms = collective_forms();
  std::vector<call_row> all;
  for (const collective_form& f : forms) all.push_back({call_name_of(f), rules_of(f), &f});
  for (message_call what : {message_call::send, message_call::ssend, message_call::bsend, message_call::rsend,
                            message_call::sendrecv, message_call::recv})
    all.push_back({detail::api_name(message_form{what}), rules_of(message_form{what})});
  const message_form single{message_call::recv, mode::blocking, true};
  all.push_back({detail::api_name(single), rules_of(single)});
  for (message_call what : {message_call::try_recv, message_call::probe, message_call::mprobe})
    all.push_back({detail::api_name(message_form{what}), rules_of(message_form{what})});
  for (bool one : {false, true}) {
    const message_form f{message_call::recv, mode::blocking, one, true};
    all.push_back({std::string("message::") + detail::api_name(f), rules_of(f)});
  }
  return all;
}

void for_each_parameter(const std::function<void(parameter)>& visit) {
  for (std::size_t i = 0; i + 1 < std::size(parameter_table); ++i) visit(static_cast<parameter>(i));
}

// Returns whether a call with all parameters except `name` is rejected.
bool is_required(const rules& r, parameter name, bool in_place) {
  std::vector<argument_properties> given;
  for_each_parameter([&](parameter other) {
    const bool omitted =
        other == name || other == parameter::tag ||
        (in_place ? other == parameter::send_buf
                  : other == parameter::send_recv_buf && r.buffer != parameter::send_recv_buf);
    if (omitted || !r.in.has(other)) return;
    argument_properties one{};
    one.name = other;
    given.push_back(one);
  });
  const argument_error e = find_error(r, true, given.data(), given.size());
  return e.what == problem::missing && e.which == name;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all.empty() ? "-" : all;
}

std::string code(std::string_view name) { return fmt::format("`{}`", name); }

// The mandatory parameters: `send_buf`, or `send_recv_buf` in its place.
std::string required_parameters(const call_row& call) {
  const rules& r = call.accepted;
  const bool can_be_in_place = r.in.has(parameter::send_recv_buf) && r.buffer == parameter::send_buf;
  std::vector<std::string> words;
  if (r.buffer != parameter::unnamed)
    words.push_back(
        code(parameter_name(r.buffer)) +
        (can_be_in_place ? fmt::format(" or `{}`", parameter_name(parameter::send_recv_buf)) : "") +
        (r.type_suffices ? " at the root (elsewhere `" + call.name + "<T>()` suffices)" : ""));
  if (r.needs_type && !r.in.has(parameter::send_buf))
    words.push_back(r.out.has(parameter::recv_buf) ? "a type, as in `" + call.name + "<T>()`, or `recv_buf`"
                                                   : "a type, as in `" + call.name + "<T>()`");
  for_each_parameter([&](parameter name) {
    if (name == r.buffer || !r.in.has(name)) return;
    const bool out_of_place = is_required(r, name, false),
               in_place = can_be_in_place && is_required(r, name, true);
    if (!out_of_place && !in_place) return;
    std::string text = code(parameter_name(name));
    if (can_be_in_place && !in_place) text += " with `send_buf`";
    if (can_be_in_place && !out_of_place) text += " in place";
    words.push_back(text);
  });
  return joined(words);
}

// Parameters that every collective takes are listed once.
bool is_common(parameter name) {
  for (const collective_form& f : collective_forms())
    if (!rules_of(f).in.has(name)) return false;
  return true;
}

std::string exchanges_of(const call_row& call) {
  std::vector<std::string> words;
  for (const exchange_of_counts& e : exchanges_of_counts) {
    if (call.what == nullptr || call.what->what != e.of || call.what->single || call.what->equal_blocks)
      continue;
    const std::string unless =
        e.or_this == parameter::unnamed ? "" : fmt::format(" (nor `{}`)", parameter_name(e.or_this));
    words.push_back(
        fmt::format("without `{}`{}: {}", parameter_name(e.left_out), unless,
                    is_neighborhood(e.of) ? "one along the edges" : fmt::format("one {}", name_of(e.by))));
  }
  return joined(words);
}

std::string row_of(const call_row& call) {
  std::vector<std::string> in, out;
  for_each_parameter([&](parameter name) {
    const bool in_its_place = name == parameter::send_recv_buf && call.accepted.buffer == parameter::send_buf;
    const bool needed =
        name == call.accepted.buffer || in_its_place || is_required(call.accepted, name, false);
    const bool listed_above = call.what != nullptr && is_common(name);
    if (call.accepted.in.has(name) && !needed && !listed_above) in.push_back(code(parameter_name(name)));
    if (call.accepted.out.has(name)) out.push_back(code(parameter_name(name)));
  });
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", call.name, required_parameters(call), joined(in),
                     joined(out), exchanges_of(call));
}

// The forms in which a parameter can be written: from the factories of its kind, and from what
// calls take.
std::string written(parameter name, const std::vector<call_row>& calls) {
  bool in = false, out = false;
  for (const call_row& call : calls)
    in = in || call.accepted.in.has(name), out = out || call.accepted.out.has(name);
  const std::string text = parameter_name(name);
  if (name == parameter::request) in = true;    // the i... forms take it
  if (name == parameter::statuses) out = true;  // wait_all() and test_all() return it
  if (name == parameter::recv_buf) return "`recv_buf`, `recv_buf_out`";
  if (name == parameter::status || name == parameter::statuses) return fmt::format("`{0}`, `{0}_out`", text);
  return joined(in && out ? std::vector{code(text), code(text + "_out")}
                          : std::vector{code(in ? text : text + "_out")});
}

}  // namespace

std::string parameters_document() {
  const std::vector<call_row> calls = all_calls();
  std::string text = preface;
  for_each_parameter([&](parameter name) {
    const parameter_row& row = parameter_table[static_cast<std::size_t>(name)];
    text += fmt::format("| `{}` | {} | {} |\n", row.name, written(name, calls), row.description);
  });
  std::vector<std::string> common;
  for_each_parameter([&](parameter name) {
    if (is_common(name)) common.push_back(code(parameter_name(name)));
  });
  std::string intro = calls_preface;
  intro.replace(intro.find("@common@"), 8, joined(common));
  text += intro;
  for (const call_row& call : calls) text += row_of(call);
  text +=
      "\n`wait_all` and `test_all` take `statuses` and `statuses_out`, `wait_any` and `test_any` take "
      "`status` and "
      "`status_out`.\n";
  return text;
}

}  // namespace tutti::tool
