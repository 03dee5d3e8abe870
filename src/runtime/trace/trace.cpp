// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/trace.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/regular_file.hpp"
#include "base/report_text.hpp"
#include "tutti/error.hpp"
#include "tutti/layout.hpp"

namespace tutti::detail {
namespace {

constexpr std::array<std::string_view, 13> type_names = {"bytes", "i8",  "i16", "i32", "i64", "u8",  "u16",
                                                         "u32",   "u64", "f32", "f64", "f80", "bool"};
constexpr std::array<std::string_view, 11> operator_names = {
    "user",   "sum",     "product",     "min",        "max",        "bit_and",
    "bit_or", "bit_xor", "logical_and", "logical_or", "logical_xor"};

std::string_view name_of_type(element_kind k) { return type_names[static_cast<std::size_t>(k)]; }
std::string name_of_op(const call_kind& k) {
  return std::string(operator_names[static_cast<std::size_t>(k.op)]) +
         (k.commutative ? "" : " (not commutative)");
}

// The name of an algorithm, a composition, or (null) the native collective.
std::string name_of_entry(const catalogue_entry* e, collective what) {
  return e != nullptr ? std::string(e->name) : std::string(name_of(what)) + "/native";
}

// The name with its parameters, as TUTTI_<COLLECTIVE>_ALGORITHM takes it.
std::string with_parameters(const catalogue_entry* e, collective what,
                            const algorithm_parameter_values& parameter_values) {
  std::string text = name_of_entry(e, what);
  if (e == nullptr) return text;
  for (const algorithm_parameter_range& p : e->parameters)
    text += (&p == e->parameters.data() ? ":" : ",") + std::string(name_of(p.which)) + "=" +
            std::to_string(parameter_values[static_cast<std::size_t>(p.which)]);
  return text;
}

const catalogue_entry* entry_of(const call_kind& k) {
  if (k.composed != nullptr) return k.composed;
  return k.pure;
}

std::string size_of(collective what, std::uint64_t count, std::uint64_t element) {
  if (what == collective::barrier) return "-";
  return (is_vector_form(what) ? "varying" : std::to_string(count)) + " x " + std::to_string(element);
}

std::string details_of(const call_kind& k) {
  std::string text;
  const auto append = [&](std::string_view what) { (text += text.empty() ? "" : ", ") += what; };
  if (combines(k.what)) append(std::string(name_of_type(k.type)) + " " + name_of_op(k));
  if (is_rooted(k.what)) append(k.at_root ? "root here" : "root elsewhere");
  if (k.in_place && k.what != collective::bcast) append("in place");
  if (k.inter) append("between two groups");
  if (k.nonblocking) append("nonblocking");
  return text;
}

std::string inner_details(const inner_call& c) {
  std::string text = c.times > 1 ? std::to_string(c.times) + " in each call" : "";
  if (c.in_place) text += text.empty() ? "in place" : ", in place";
  return text;
}

std::string inner_name(const inner_call& c) {
  return with_parameters(c.chosen.pure, c.what, c.chosen.parameter_values);
}

using row = std::vector<std::string>;

// Columns are as wide as their longest entry. Numbers are right-aligned.
std::string aligned(const std::vector<row>& rows, std::initializer_list<std::size_t> numbers) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const row& r : rows)
    for (std::size_t i = 0; i < r.size(); ++i) widths[i] = std::max(widths[i], r[i].size());
  std::string text;
  for (const row& r : rows) {
    std::string one;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const std::string blanks(widths[i] - r[i].size(), ' ');
      const bool number = std::find(numbers.begin(), numbers.end(), i) != numbers.end();
      one += std::string("  ") + (number ? blanks + r[i] : r[i] + blanks);
    }
    text += one.substr(0, one.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string milliseconds(call_trace::duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>(d.count()) * 1e-6);
  return text;
}

// Writes a JSON object. Texts are only names, so they need no escapes.
class object {
 public:
  object& text(std::string_view key, std::string_view value) {
    return raw(key, "\"" + std::string(value) + "\"");
  }
  object& number(std::string_view key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  object& boolean(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  object& raw(std::string_view key, std::string_view value) {
    ((((made_ += made_.empty() ? "{\"" : ", \"") += key) += "\": ") += value);
    return *this;
  }
  std::string made() const { return made_.empty() ? "{}" : made_ + "}"; }

 private:
  std::string made_;
};

std::string parameters_of(const catalogue_entry* e, const algorithm_parameter_values& parameter_values) {
  object all;
  if (e != nullptr)
    for (const algorithm_parameter_range& p : e->parameters)
      all.number(name_of(p.which), parameter_values[static_cast<std::size_t>(p.which)]);
  return all.made();
}

std::string json_array(const std::vector<std::string>& all, const char* indent) {
  std::string text = "[";
  for (const std::string& one : all) text += (&one == all.data() ? "\n" : ",\n") + (indent + one);
  return text + "]";
}

}  // namespace

call_kind kind_of(const call& c, const composed_choice& composed, const choice& pure,
                  std::uint64_t communicator, int rank, int ranks, bool inter) {
  const agreed_signature s = agreed_part(c, ranks, inter);
  call_kind k;
  k.communicator = communicator;
  k.ranks = ranks;
  k.what = c.what;
  k.inter = inter;
  k.in_place = c.in_place;
  k.at_root = is_rooted(c.what) && c.root == rank;
  if (combines(c.what)) {
    k.type = s.kind;
    k.op = s.op;
    k.commutative = s.commutative;
  }
  if (c.what != collective::barrier) {
    k.count = is_vector_form(c.what) ? 0 : c.count;
    k.element = c.type.size;
  }
  k.composed = composed.which;
  k.pure = composed.which != nullptr ? nullptr : pure.pure;
  k.parameter_values = composed.which != nullptr ? composed.parameter_values : pure.parameter_values;
  return k;
}

std::uint64_t bytes_of(const call& c, int blocks) noexcept {
  if (c.what == collective::barrier) return 0;
  if (!is_vector_form(c.what)) {
    const bool has_blocks = c.what == collective::gather || c.what == collective::scatter ||
                            c.what == collective::allgather || c.what == collective::alltoall ||
                            c.what == collective::reduce_scatter_block;
    return c.count * c.type.size * (has_blocks ? static_cast<std::uint64_t>(blocks) : 1);
  }
  const auto sum = [&](const counts_view& counts, const layout* types) {
    std::uint64_t all = 0;
    if (!counts.given()) return all;
    for (std::size_t i = 0; i < counts.size(); ++i)
      all += counts[i] * (types != nullptr ? types[i].size() : c.type.size);
    return all;
  };
  const std::uint64_t local = c.count * c.type.size;
  return std::max({local, sum(c.in_counts, c.in_types), sum(c.out_counts, c.out_types)});
}

trace_options read_trace(const std::string& text) {
  constexpr std::string_view calls_prefix = "calls:json=", tasks_prefix = "tasks:";
  trace_options options;
  std::string_view remaining = text;
  while (true) {
    const std::string_view one = remaining.substr(0, remaining.find(','));
    if (one == "calls") {
      options.calls = true;
    } else if (one.starts_with(calls_prefix) && one.size() > calls_prefix.size()) {
      options.calls = true;
      options.file = one.substr(calls_prefix.size());
    } else if (one.starts_with(tasks_prefix) && one.size() > tasks_prefix.size()) {
      options.tasks_file = one.substr(tasks_prefix.size());
    } else {
      throw usage_error("run", -1, "TUTTI_TRACE", "is \"" + echoed(text) + "\"",
                        "set calls, calls:json=FILE or tasks:FILE, or two of them separated by a comma");
    }
    if (one.size() == remaining.size()) return options;
    remaining.remove_prefix(one.size() + 1);
  }
}

call_trace::call_trace(std::string file, std::string engine, int ranks)
    : file_(std::move(file)), engine_(std::move(engine)), ranks_(ranks), lines_(1) {}

call_trace::~call_trace() {
  try {
    if (file_.empty()) {
      const std::string text = table();
      std::fwrite(text.data(), 1, text.size(), stderr);
      return;
    }
    if (const std::string problem = write_regular_file(file_, json()); !problem.empty())
      std::fprintf(stderr, "tutti: TUTTI_TRACE: %s\n", problem.c_str());
  } catch (...) {
    std::fprintf(stderr, "tutti: TUTTI_TRACE: out of memory, so the calls are not reported\n");
  }
}

call_trace::line& call_trace::line_of(const call_kind& kind) {
  const auto found = line_index_.find(kind);
  if (found != line_index_.end()) return lines_[found->second];
  if (line_index_.size() == max_kinds) return lines_[0];
  line_index_.emplace(kind, lines_.size());
  lines_.emplace_back();
  lines_.back().kind = kind;
  return lines_.back();
}

void call_trace::add(const call_kind& kind, std::uint64_t bytes, duration elapsed) {
  line& l = line_of(kind);
  ++l.calls;
  l.bytes += bytes;
  l.elapsed += elapsed;
}

void call_trace::set_inner_calls(const call_kind& kind, const std::vector<inner_call>& calls) {
  line& l = line_of(kind);
  if (&l == lines_.data() || (!l.inside.empty() && !is_vector_form(kind.what))) return;
  l.inside.clear();
  for (const inner_call& c : calls) {
    const auto same = std::find_if(l.inside.begin(), l.inside.end(), [&](const inner_call& k) {
      return k.what == c.what && k.ranks == c.ranks && k.count == c.count && k.in_place == c.in_place &&
             k.chosen == c.chosen;
    });
    if (same == l.inside.end())
      l.inside.push_back(c);
    else
      same->times += c.times;
  }
}

std::string call_trace::table() const {
  std::vector<row> rows{{"comm", "ranks", "collective", "count x bytes", "", "calls", "bytes", "ms in all",
                         "us a call", "algorithm"}};
  const auto numbers_of = [](const line& l) {
    char each[32];
    std::snprintf(each, sizeof each, "%.2f",
                  static_cast<double>(l.elapsed.count()) * 1e-3 / static_cast<double>(l.calls));
    return row{std::to_string(l.calls), std::to_string(l.bytes), milliseconds(l.elapsed), each};
  };
  const auto add = [&](row head, const row& numbers, std::string algorithm) {
    head.insert(head.end(), numbers.begin(), numbers.end());
    head.push_back(std::move(algorithm));
    rows.push_back(std::move(head));
  };
  std::uint64_t calls = 0;
  for (const line& l : lines_) {
    calls += l.calls;
    const call_kind& k = l.kind;
    if (&l == lines_.data() || l.calls == 0) continue;
    add({std::to_string(k.communicator), std::to_string(k.ranks), std::string(name_of(k.what)),
         size_of(k.what, k.count, k.element), details_of(k)},
        numbers_of(l), with_parameters(entry_of(k), k.what, k.parameter_values));
    for (const inner_call& one : l.inside)
      add({"", std::to_string(one.ranks), "  " + std::string(name_of(one.what)),
           size_of(one.what, one.count, k.element), inner_details(one)},
          {"", "", "", ""}, "  " + inner_name(one));
  }
  if (lines_[0].calls != 0) add({"", "", "others", "", ""}, numbers_of(lines_[0]), "");
  std::string text = "tutti: TUTTI_TRACE=calls: " + engine_ + ", " + std::to_string(ranks_) + " rank" +
                     (ranks_ == 1 ? "" : "s") + ", as seen by rank 0: " + std::to_string(calls) + " call" +
                     (calls == 1 ? "" : "s") + "\n";
  return calls == 0 ? text : text + aligned(rows, {0, 1, 5, 6, 7, 8});
}

std::string call_trace::json() const {
  const auto numbers = [](object& o, const line& l) -> object& {
    return o.number("calls", l.calls)
        .number("bytes", l.bytes)
        .number("nanoseconds", static_cast<std::uint64_t>(std::max<std::int64_t>(0, l.elapsed.count())));
  };
  std::vector<std::string> all;
  for (const line& l : lines_) {
    if (&l == lines_.data() || l.calls == 0) continue;
    const call_kind& k = l.kind;
    object o;
    o.number("communicator", k.communicator)
        .number("ranks", static_cast<std::uint64_t>(k.ranks))
        .text("collective", name_of(k.what));
    if (k.what != collective::barrier) {
      if (!is_vector_form(k.what)) o.number("count", k.count);
      o.number("element", k.element);
    }
    if (combines(k.what))
      o.text("type", name_of_type(k.type))
          .text("op", operator_names[static_cast<std::size_t>(k.op)])
          .boolean("commutative", k.commutative);
    if (is_rooted(k.what)) o.boolean("root_here", k.at_root);
    o.boolean("in_place", k.in_place).boolean("inter", k.inter).boolean("nonblocking", k.nonblocking);
    o.text("algorithm", name_of_entry(entry_of(k), k.what))
        .raw("parameters", parameters_of(entry_of(k), k.parameter_values));
    if (k.composed == nullptr)
      o.raw("composition", "null");
    else
      o.text("composition", k.composed->name);
    if (k.composed != nullptr) {
      std::vector<std::string> inside;
      for (const inner_call& one : l.inside) {
        object i;
        i.text("collective", name_of(one.what))
            .number("ranks", static_cast<std::uint64_t>(one.ranks))
            .number("count", one.count)
            .boolean("in_place", one.in_place)
            .number("times", one.times)
            .text("algorithm", name_of_entry(one.chosen.pure, one.what))
            .raw("parameters", parameters_of(one.chosen.pure, one.chosen.parameter_values));
        inside.push_back(i.made());
      }
      o.raw("inside", json_array(inside, "     "));
    }
    all.push_back(numbers(o, l).made());
  }
  object report, others;
  report.text("engine", engine_).number("ranks", static_cast<std::uint64_t>(ranks_));
  report.raw("calls", json_array(all, "  ")).raw("others", numbers(others, lines_[0]).made());
  return report.made() + "\n";
}

}  // namespace tutti::detail
