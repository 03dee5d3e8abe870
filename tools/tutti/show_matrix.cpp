// SPDX-License-Identifier: Apache-2.0
//
// Draws an algorithm for many ranks as SVG: the communication matrix, sender by receiver, and for
// each round the number of messages and their bytes. A matrix of more than 256 ranks is aggregated
// to cells of several ranks, and rounds beyond 256 to bars of several rounds.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "show.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using proof::traced_round;
using proof::traced_step;

constexpr int max_cells = 256, levels = 8;
constexpr double left = 76, top = 112, matrix_size = 512, gap = 96, chart_width = 512, chart_height = 196;
constexpr double width = left + matrix_size + gap + chart_width + 24, height = top + matrix_size + 84;

constexpr const char* matrix_style = R"(<style>
  .paper { fill: #ffffff } .frame { fill: none; stroke: #8c959f; stroke-width: 1 }
  text { font-family: "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #1f2328; font-size: 12px }
  .name { font-size: 17px; font-weight: bold } .axis { font-size: 11px; fill: #57606a }
  .middle { text-anchor: middle } .end { text-anchor: end }
  .cell { fill: #0a3069 } .messages { fill: #0969da } .bytes { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .frame { stroke: #6e7681 } text { fill: #e6edf3 } .axis { fill: #9ea7b0 }
    .cell { fill: #79c0ff } .messages { fill: #58a6ff } .bytes { fill: #f0883e }
  }
</style>
)";

// "1.5 MiB"
std::string text_of_bytes(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return fmt::format("{} {}", number(std::round(bytes * 10) / 10), units[unit]);
}

/// The sums that the drawing shows.
class traffic {
 public:
  explicit traffic(int ranks)
      : per_cell_((ranks + max_cells - 1) / max_cells),
        cells_((ranks + per_cell_ - 1) / per_cell_),
        ranks_(ranks),
        bytes_(at(cells_) * at(cells_)),
        used_(bytes_.size()) {}

  void add_to_matrix(int from, int to, double bytes) {
    const std::size_t cell = at(from / per_cell_) * at(cells_) + at(to / per_cell_);
    bytes_[cell] += bytes;
    used_[cell] = true;
  }
  void add_to_round(std::size_t round, double bytes) {
    if (rounds_.size() <= round) rounds_.resize(round + 1);
    rounds_[round].messages += 1;
    rounds_[round].bytes += bytes;
  }

  struct round_sum {
    double messages = 0, bytes = 0;
  };
  int ranks() const { return ranks_; }
  int cells() const { return cells_; }
  int ranks_per_cell() const { return per_cell_; }
  bool used(int row, int column) const { return used_[index(row, column)]; }
  double bytes(int row, int column) const { return bytes_[index(row, column)]; }
  const std::vector<round_sum>& rounds() const { return rounds_; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  std::size_t index(int row, int column) const { return at(row) * at(cells_) + at(column); }

  int per_cell_, cells_, ranks_;
  std::vector<double> bytes_;
  std::vector<bool> used_;
  std::vector<round_sum> rounds_;
};

struct caption {
  std::string name, idea, call, note;
  const char* unit;  // of time: "step" or "round"
};

class matrix_drawing {
 public:
  matrix_drawing(const traffic& t, const caption& c) : traffic_(t), caption_(c) {
    for (int i = 0; i < t.cells(); ++i)
      for (int j = 0; j < t.cells(); ++j) {
        if (!t.used(i, j)) continue;
        const double bytes = t.bytes(i, j);
        max_ = std::max(max_, bytes);
        if (bytes > 0) min_ = min_ == 0 ? bytes : std::min(min_, bytes);
      }
  }

  std::string draw() const {
    std::string all = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{2}, {3} "
        "ranks</title>\n<desc id=\"desc\">{4} {5}: communication matrix and rounds.</desc>\n",
        width, height, escaped(caption_.name), traffic_.ranks(), escaped(caption_.idea),
        escaped(caption_.call));
    all += matrix_style;
    all += fmt::format("<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width, height);
    all += text(16, 30, "name", caption_.name) + text(16, 50, "", caption_.call);
    if (!caption_.note.empty()) all += text(16, 68, "", caption_.note);
    const double x = left + matrix_size + gap, second = top + matrix_size - chart_height;
    return all + matrix() + legend(top + matrix_size + 44) +
           chart(x, top, "messages", "Messages", [](const auto& r) { return r.messages; }) +
           chart(x, second, "bytes", "Bytes", [](const auto& r) { return r.bytes; }) + "</svg>\n";
  }

 private:
  static std::string text(double x, double y, std::string_view kind, const std::string& words) {
    return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, x, y,
                       escaped(words));
  }

  // A logarithmic scale from the smallest sum above 0 to the largest. 0 bytes have the lowest
  // level.
  int level_of(double bytes) const {
    if (max_ == min_) return bytes == max_ ? levels - 1 : 0;
    if (bytes <= 0) return 0;
    const double share = std::log(bytes / min_) / std::log(max_ / min_);
    return std::clamp(static_cast<int>(share * levels), 0, levels - 1);
  }
  static double opacity(int level) { return 0.28 + 0.72 * level / (levels - 1); }

  // One path for each level. Equal neighbors in a row are one rectangle.
  std::string matrix() const {
    const int n = traffic_.cells();
    std::array<std::string, levels> paths;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n;) {
        if (!traffic_.used(i, j)) {
          ++j;
          continue;
        }
        const int level = level_of(traffic_.bytes(i, j)), begin = j;
        while (j < n && traffic_.used(i, j) && level_of(traffic_.bytes(i, j)) == level) ++j;
        paths[static_cast<std::size_t>(level)] +=
            fmt::format("M{} {}h{}v1h-{}z", begin, i, j - begin, j - begin);
      }
    std::string all = fmt::format(
        "<g transform=\"translate({:.1f} {:.1f}) scale({:.6f})\" "
        "shape-rendering=\"crispEdges\"><title>sender (row) to receiver "
        "(column)</title>\n",
        left, top, matrix_size / n);
    for (int k = 0; k < levels; ++k)
      if (const std::string& path = paths[static_cast<std::size_t>(k)]; !path.empty())
        all += fmt::format("<path class=\"cell\" fill-opacity=\"{:.2f}\" d=\"{}\"/>\n", opacity(k), path);
    all += fmt::format(
        "</g>\n<rect class=\"frame\" x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" "
        "height=\"{2:.1f}\"/>\n",
        left, top, matrix_size);
    for (const int quarter : {0, 1, 2, 3, 4}) {
      const int rank = std::min(traffic_.ranks() * quarter / 4, traffic_.ranks() - 1);
      const double at = matrix_size * (rank / traffic_.ranks_per_cell() + 0.5) / n;
      all += text(left + at, top - 8, "axis middle", std::to_string(rank));
      all += text(left - 8, top + at + 4, "axis end", std::to_string(rank));
    }
    all += text(left + matrix_size / 2, top - 24, "middle", "receiver");
    all += fmt::format(
        "<text class=\"middle\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">sender</text>\n",
        left - 54, top + matrix_size / 2);
    return all;
  }

  std::string legend(double y) const {
    std::string all = text(left, y + 11, "", "bytes");
    const double x = left + 44;
    for (int k = 0; k < levels; ++k)
      all += fmt::format(
          "<rect class=\"cell\" fill-opacity=\"{:.2f}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"22\" "
          "height=\"14\"/>",
          opacity(k), x + 22 * k, y);
    const std::string scale =
        max_ == min_ ? fmt::format("{} in every cell that is drawn", text_of_bytes(max_))
                     : fmt::format("{} to {}, logarithmic", text_of_bytes(min_), text_of_bytes(max_));
    all += text(x + 22 * levels + 10, y + 11, "", scale);
    const int per = traffic_.ranks_per_cell();
    return all + text(left, y + 31, "axis",
                      per == 1 ? "A cell is a pair of ranks."
                               : fmt::format("A cell is the sum over {0} senders and {0} receivers.", per));
  }

  template <class Value>
  std::string chart(double x, double y, const char* kind, const char* what, Value&& value) const {
    const auto& rounds = traffic_.rounds();
    const std::size_t per_bar = std::max<std::size_t>(1, (rounds.size() + max_cells - 1) / max_cells);
    const std::size_t bars = (rounds.size() + per_bar - 1) / per_bar;
    std::vector<double> sums(bars);
    for (std::size_t i = 0; i < rounds.size(); ++i) sums[i / per_bar] += value(rounds[i]);
    const double largest = bars == 0 ? 0 : *std::max_element(sums.begin(), sums.end());
    const bool bytes = kind == std::string_view("bytes");
    const auto label = [&](double v) { return bytes ? text_of_bytes(v) : number(v); };
    std::string all = text(x, y - 8, "",
                           per_bar == 1 ? fmt::format("{} in each {}", what, caption_.unit)
                                        : fmt::format("{} in {} {}s together", what, per_bar, caption_.unit));
    const double step = chart_width / static_cast<double>(std::max<std::size_t>(bars, 1));
    for (std::size_t i = 0; i < bars; ++i) {
      if (sums[i] <= 0) continue;
      const double tall = chart_height * sums[i] / largest, bar = std::min(step * 0.86, 40.0);
      const std::size_t last = std::min((i + 1) * per_bar, rounds.size()) - 1;
      const std::string name = last == i * per_bar
                                   ? fmt::format("{} {}", caption_.unit, last)
                                   : fmt::format("{}s {} to {}", caption_.unit, i * per_bar, last);
      all += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}: "
          "{}</title></rect>\n",
          kind, x + step * static_cast<double>(i) + (step - bar) / 2, y + chart_height - tall, bar, tall,
          name, label(sums[i]));
    }
    all += fmt::format("<path class=\"frame\" d=\"M{:.1f} {:.1f}v{:.1f}h{:.1f}\"/>\n", x, y, chart_height,
                       chart_width);
    all += text(x - 6, y + 10, "axis end", label(largest)) + text(x - 6, y + chart_height, "axis end", "0");
    if (!rounds.empty()) {
      all += text(x + step / 2, y + chart_height + 16, "axis middle", "0");
      if (bars > 1)
        all += text(x + chart_width - step / 2, y + chart_height + 16, "axis middle",
                    std::to_string(per_bar == 1 ? rounds.size() - 1 : (bars - 1) * per_bar));
    }
    return all;
  }

  const traffic& traffic_;
  const caption& caption_;
  double min_ = 0, max_ = 0;
};

double bytes_of(const proof::traced_place& p, std::size_t element_bytes) {
  return static_cast<double>(p.count * (p.where == buffer::words ? sizeof(std::uint64_t) : element_bytes));
}

}  // namespace

std::string as_matrix(const call_trace& p) {
  traffic all(p.call.ranks);
  for (const message& m : p.messages) {
    const double bytes =
        m.sent->kind == step_kind::signal ? 0 : bytes_of(m.sent->source, p.call.element_bytes);
    all.add_to_matrix(m.from, m.to, bytes);
    all.add_to_round(static_cast<std::size_t>(m.time), bytes);
  }
  return matrix_drawing(
             all, {std::string(p.algorithm->name), std::string(p.algorithm->idea), p.call.text(), "", "step"})
      .draw();
}

std::string as_matrix(const rank_view& v) {
  traffic all(v.call.ranks);
  std::size_t round = 0;
  v.run([&](const traced_round& r) {
    for (const traced_step& s : r.steps) {
      if (is_local(s.kind)) break;
      const bool sent = s.kind == step_kind::send || s.kind == step_kind::signal;
      const bool silent = s.kind == step_kind::signal || s.kind == step_kind::await_signal;
      const double bytes = silent ? 0 : bytes_of(sent ? s.source : s.target, v.call.element_bytes);
      all.add_to_matrix(sent ? v.rank : s.peer, sent ? s.peer : v.rank, bytes);
      all.add_to_round(round, bytes);
    }
    ++round;
  });
  std::string note =
      fmt::format("Only the messages of rank {}, sent and received, in its own rounds", v.rank);
  if (v.measured.unknown != 0)
    note += fmt::format("; {} of unknown length count as 0 bytes", v.measured.unknown);
  return matrix_drawing(all, {std::string(v.algorithm->name), std::string(v.algorithm->idea), v.call.text(),
                              note, "round"})
      .draw();
}

}  // namespace tutti::tool
