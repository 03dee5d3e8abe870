// SPDX-License-Identifier: Apache-2.0
//
// Draws an algorithm for a call as SVG: time runs downwards, and each rank is a line. A message
// leaves its sender at the top of a step and reaches its receiver at the bottom. Its contents are
// written at both ends. Labels and arrows never cross, because each rank sends and receives one
// message per step. Local steps are drawn below.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "show.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using proof::traced_place;
using proof::traced_step;

constexpr std::int64_t max_steps = 64;  // unless the user wants all
constexpr int margin = 64, header = 104, footer = 78, mark_height = 16;
constexpr int max_listed = 12;      // of local steps of one kind
constexpr double char_width = 5.5;  // width of a character of a label

constexpr const char* style = R"(<style>
  .paper { fill: #ffffff } .band { fill: #f4f6f8 } .lane { stroke: #c3c9d0; stroke-width: 1.5 }
  text { font-family: "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; fill: #1f2328 }
  .name { font-size: 17px; font-weight: bold } .call, .key { font-size: 12px } .step { font-size: 11px; fill: #57606a }
  .rank { font-size: 12px; font-weight: bold; text-anchor: middle }
  .place { font-family: "DejaVu Sans Mono", Consolas, monospace; font-size: 9px; fill: #424a53 }
  .head { fill: #ffffff; stroke: #57606a; stroke-width: 1.2 }
  .plain { stroke: #0969da; stroke-width: 1.6; fill: none } .plain-end { fill: #0969da }
  .reduced { stroke: #bc4c00; stroke-width: 1.6; fill: none } .reduced-end { fill: #bc4c00 }
  .signal { stroke-dasharray: 4 3 } .mark { fill: #ffffff; stroke-width: 1.4 }
  .copies { stroke: #0969da } .reduces { stroke: #bc4c00 } .counts { stroke: #57606a }
  .faded { opacity: 0.16 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .band { fill: #161b22 } .lane { stroke: #484f58 }
    text { fill: #e6edf3 } .step { fill: #9ea7b0 } .place { fill: #c3cad2 }
    .head { fill: #0d1117; stroke: #9ea7b0 } .mark { fill: #0d1117 }
    .plain { stroke: #58a6ff } .plain-end { fill: #58a6ff }
    .reduced { stroke: #f0883e } .reduced-end { fill: #f0883e }
    .copies { stroke: #58a6ff } .reduces { stroke: #f0883e } .counts { stroke: #9ea7b0 }
  }
</style>
<defs>
  <marker id="plain-end" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0.5L8 4L0 7.5Z" class="plain-end"/></marker>
  <marker id="reduced-end" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0.5L8 4L0 7.5Z" class="reduced-end"/></marker>
</defs>
)";

std::string brief(const traced_place& p) {
  if (p.count == 0) return "empty";
  return fmt::format("{} {}..{}", name_of_buffer(p.where, true), p.first, p.first + p.count);
}

class drawing {
 public:
  drawing(const call_trace& p, const view& how) : p_(p), how_(how) {
    // Wide enough for the longest label, within a limit.
    std::size_t longest = 0;
    for (const message& m : p.messages) {
      longest = std::max(longest, brief(m.sent->source).size());
      if (m.received != nullptr) longest = std::max(longest, brief(m.received->target).size());
    }
    for (const local_work& l : p.locals) longest = std::max(longest, brief(l.what->target).size() + 3);
    const double max_lane = p.call.ranks <= 16 ? 104 : p.call.ranks <= 32 ? 84 : 28;
    const double min_lane = p.call.ranks <= 16 ? 60 : 28;
    lane_ = std::clamp(static_cast<double>(longest) * char_width + 14, min_lane, max_lane);
    for (const local_work& l : p.locals) {
      work& w = marks_[l.time][{l.rank, kind_of(*l.what)}];
      if (w.count == 0) w.label = brief(l.what->target);
      if (w.count < max_listed) w.text += (w.count == 0 ? "" : "; ") + text_of_local(*l.what);
      if (w.count == max_listed) w.text += "; ...";
      ++w.count;
    }
    for (const auto& [time, of_ranks] : marks_) {
      std::map<int, int> rows;
      for (const auto& [key, w] : of_ranks) max_marks_[time] = std::max(max_marks_[time], ++rows[key.first]);
    }
    last_ = p.result.measured.rounds;
    if (!how.everything) last_ = std::min(last_, max_steps);
  }

  std::string draw() {
    double y = header;
    if (marks_.count(-1) != 0) y = draw_marks(-1, y + 2);
    for (std::int64_t t = 0; t < last_; ++t) y = draw_step(t, y);
    const double bottom = y + 6;
    const double width = std::max(margin + lane_ * p_.call.ranks + 8, 560.0), height = bottom + footer;
    const std::string title = fmt::format("{}, {} ranks", p_.algorithm->name, p_.call.ranks);
    std::string all = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" "
        "role=\"img\" aria-labelledby=\"title desc\">\n<title id=\"title\">{2}</title>\n<desc "
        "id=\"desc\">{3} "
        "{4}: {5} messages in {6} steps.</desc>\n",
        width, height, escaped(title), escaped(p_.algorithm->idea), escaped(p_.call.text()),
        p_.messages.size(), p_.result.measured.rounds);
    all += style;
    all += fmt::format("<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", width, height);
    all += fmt::format("<text class=\"name\" x=\"16\" y=\"30\">{}</text>\n", escaped(p_.algorithm->name));
    all += fmt::format("<text class=\"call\" x=\"16\" y=\"50\">{}</text>\n", escaped(p_.call.text()));
    for (std::size_t i = 0; i < bands_.size(); ++i)
      all += fmt::format("<rect class=\"{}\" x=\"0\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.1f}\"/>\n",
                         i % 2 == 0 ? "band" : "paper", bands_[i].first, width, bands_[i].second);
    for (int r = 0; r < p_.call.ranks; ++r) {
      all += fmt::format("<line class=\"lane\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
                         x(r), header - 12, bottom + 6);
      for (const double at : {header - 24.0, bottom + 16})
        all += fmt::format(
            "<circle class=\"head\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"12\"/>"
            "<text class=\"rank\" x=\"{0:.1f}\" y=\"{2:.1f}\">{3}</text>\n",
            x(r), at, at + 4.2, r);
    }
    return all + body_ + key(bottom + 52) + "</svg>\n";
  }

 private:
  enum class mark : std::uint8_t { copies, reduces, counts };
  /// All local steps of one kind that a rank does after a step.
  struct work {
    int count = 0;
    std::string label, text;
  };
  static mark kind_of(const traced_step& s) {
    return s.kind == step_kind::copy     ? mark::copies
           : s.kind == step_kind::reduce ? mark::reduces
                                         : mark::counts;
  }
  static std::string_view class_of(mark m) {
    return m == mark::copies ? "copies" : m == mark::reduces ? "reduces" : "counts";
  }

  double x(int rank) const { return margin + lane_ * (rank + 0.2); }
  bool fits(std::string_view label) const {
    return static_cast<double>(label.size()) * char_width <= lane_ - 6;
  }
  std::string_view faded(bool unrelated) const { return unrelated ? " faded" : ""; }

  void label(double at, double y, const std::string& text) {
    if (fits(text))
      body_ += fmt::format("<text class=\"place\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", at, y, text);
  }

  // A circle with a plus: the symbol of a reduction.
  static std::string plus(double at, double y, double r) {
    return fmt::format(
        "<circle class=\"mark reduces\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"{2}\"/>"
        "<path class=\"reduces\" d=\"M{3:.1f} {1:.1f}H{4:.1f}M{0:.1f} {5:.1f}V{6:.1f}\" "
        "stroke-width=\"1.4\"/>",
        at, y, r, at - r + 2, at + r - 2, y - r + 2, y + r - 2);
  }
  static std::string square(double at, double y, mark m) {
    return fmt::format("<rect class=\"mark {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"9\" height=\"9\"/>",
                       class_of(m), at - 4.5, y - 4.5);
  }

  void arrow(const message& m, double top, double bottom) {
    const double from = top + 15, to = bottom - 15;
    const bool reduced = m.is_reduced(),
               unrelated = how_.rank >= 0 && m.from != how_.rank && m.to != how_.rank;
    const bool signal = m.sent->kind == step_kind::signal;
    const std::string text = signal ? "signal" : text_of(m.sent->source) + " to " + arrival_of(m);
    body_ += fmt::format("<g class=\"message{}\"><title>step {}, {} to {}: {}</title>", faded(unrelated),
                         m.time, m.from, m.to, escaped(text));
    const double x1 = x(m.from), x2 = x(m.to);
    // The arrow of a message that is reduced ends at the circle around its receiver.
    double end_x = x2, end_y = to;
    if (reduced && m.from != m.to) {
      const double dx = x1 - x2, dy = from - to, length = std::max(std::abs(dx), 1.0) + std::abs(dy) * 0.3;
      end_x += dx / length * 5.5;
      end_y += dy / length * 5.5;
    }
    const std::string_view kind = reduced ? "reduced" : "plain";
    const std::string path =
        m.from == m.to ? fmt::format("M{0:.1f} {1:.1f}C{2:.1f} {1:.1f} {2:.1f} {3:.1f} {0:.1f} {3:.1f}", x1,
                                     from, x1 + lane_ * 0.4, to)
                       : fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x1, from, end_x, end_y);
    body_ += fmt::format("<path class=\"{0}{1}\" marker-end=\"url(#{0}-end)\" d=\"{2}\"/>", kind,
                         signal ? " signal" : "", path);
    body_ += fmt::format("<circle class=\"{}-end\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>", kind, x1, from);
    if (reduced) body_ += plus(x2, to, 5.5);
    if (!signal) {
      label(x1 + 4, top + 10, brief(m.sent->source));
      if (m.received != nullptr || m.sent->kind == step_kind::put)
        label(x2 + 4, bottom - 2, brief(m.received != nullptr ? m.received->target : m.sent->target));
    }
    body_ += "</g>\n";
  }

  double draw_marks(std::int64_t t, double y) {
    const auto found = marks_.find(t);
    if (found == marks_.end()) return y;
    std::map<int, int> rows;
    for (const auto& [key, w] : found->second) {
      const auto [rank, kind] = key;
      const double at = y + mark_height * (rows[rank]++ + 0.5);
      body_ += fmt::format("<g class=\"local{}\"><title>rank {}: {}</title>",
                           faded(how_.rank >= 0 && rank != how_.rank), rank, escaped(w.text));
      body_ += kind == mark::reduces ? plus(x(rank), at, 5.5) : square(x(rank), at, kind);
      label(x(rank) + 9, at + 3, w.count == 1 ? w.label : fmt::format("{} times", w.count));
      body_ += "</g>\n";
    }
    return y + mark_height * max_marks_[t];
  }

  double draw_step(std::int64_t t, double y) {
    const auto first = std::lower_bound(p_.messages.begin(), p_.messages.end(), t,
                                        [](const message& m, std::int64_t time) { return m.time < time; });
    // Long arrows that cross get more height, because flat arrows are hard to follow.
    const auto last = std::find_if(first, p_.messages.end(), [&](auto& m) { return m.time != t; });
    int farthest = 1, far = 0;
    for (auto m = first; m != last; ++m) {
      const int distance = std::abs(m->from - m->to);
      farthest = std::max(farthest, distance);
      if (distance > 1) ++far;
    }
    const double bottom = y + 60 + 7 * std::min({farthest, 3 * far, 12});
    body_ +=
        fmt::format("<text class=\"step\" x=\"16\" y=\"{:.1f}\">step {}</text>\n", (y + bottom) / 2 + 4, t);
    for (auto m = first; m != last; ++m) arrow(*m, y, bottom);
    const double end = draw_marks(t, bottom) + 5;
    bands_.push_back({y, end - y});
    return end;
  }

  std::string key(double y) const {
    std::string all;
    double at = 16;
    const auto entry = [&](const std::string& sign, double width, std::string_view text) {
      all += sign + fmt::format("<text class=\"key\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", at + width,
                                y + 4, text);
      at += width + static_cast<double>(text.size()) * 7.2 + 18;
    };
    const auto line = [&](std::string_view kind) {
      return fmt::format("<path class=\"{0}\" marker-end=\"url(#{0}-end)\" d=\"M{1:.1f} {2:.1f}h26\"/>", kind,
                         at, y);
    };
    const bool any_reduced =
        std::any_of(p_.messages.begin(), p_.messages.end(), [](auto& m) { return m.is_reduced(); });
    entry(line("plain"), 34, "message");
    if (any_reduced) entry(line("reduced") + plus(at + 31, y, 5.5), 44, "message, reduced where it arrives");
    bool seen[3] = {};
    for (const local_work& l : p_.locals) seen[static_cast<int>(kind_of(*l.what))] = true;
    if (seen[0]) entry(square(at + 5, y, mark::copies), 16, "copy");
    if (seen[1]) entry(plus(at + 6, y, 5.5), 18, "reduce");
    if (seen[2]) entry(square(at + 5, y, mark::counts), 16, "count");
    if (last_ < p_.result.measured.rounds)
      all +=
          fmt::format("<text class=\"call\" x=\"16\" y=\"{:.1f}\">{} more steps: --all draws them</text>\n",
                      y + 22, p_.result.measured.rounds - last_);
    else
      all += fmt::format(
          "<text class=\"call\" x=\"16\" y=\"{:.1f}\">in, out: input and output{}, s0 to s3: scratch, in "
          "elements</text>\n",
          y + 22, p_.call.aliased_at(p_.call.root) ? ", here one buffer" : "");
    return all;
  }

  const call_trace& p_;
  const view how_;
  double lane_ = 0;
  std::int64_t last_ = 0;
  std::map<std::int64_t, std::map<std::pair<int, mark>, work>> marks_;
  std::map<std::int64_t, int> max_marks_;
  std::vector<std::pair<double, double>> bands_;
  std::string body_;
};

}  // namespace

std::string as_svg(const call_trace& p, const view& how) { return drawing(p, how).draw(); }

}  // namespace tutti::tool
