#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# gain_figure.sh docs/performance.md > docs/gain.svg
#
# Draws the figure of the README: the time of Open MPI divided by that of tutti, for three
# collectives and five sizes. The figures are those of the table of two threads in performance.md.
# A test fails if the drawing and the table disagree.
set -eu
export LC_ALL=C

awk '
  /^### p = 2, threads/ { in_section = 1 }
  in_section && /^```/ { in_table = !in_table; if (!in_table) in_section = 0; next }
  # The columns of a size are the time of tutti and the ratios of Open MPI and MPICH.
  in_table && /^(bcast|allreduce|alltoall) / && NF == 16 {
    for (size = 0; size < 5; ++size) ratio[$1, size] = $(3 * size + 3)
    ++rows
  }

  function text(class, x, y, words) { printf "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, x, y, words }
  function line(class, y) { printf "<line class=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", class, left, y, width - 16, y }
  function height_of(value) { return base - value * unit }

  END {
    if (rows != 3) {
      print "gain_figure.sh: the table of two threads lacks a collective, or has other columns" > "/dev/stderr"
      exit 1
    }
    split("bcast allreduce alltoall", names, " ")
    split("8 B,1 KiB,32 KiB,1 MiB,16 MiB", sizes, ",")
    width = 720; height = 320; left = 40; base = 270; unit = 34; group = 132; bar = 34
    title = "Time of Open MPI divided by the time of tutti, 2 ranks"
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"title desc\">\n", width, height, width, height
    print "<title id=\"title\">" title "</title>"
    print "<desc id=\"desc\">Above 1, tutti is faster. The ranks of tutti are threads, those of Open MPI are processes.</desc>"
    print "<style>"
    print "  text { font: 12px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }"
    print "  .title { font-size: 15px; font-weight: 600; text-anchor: start; }"
    print "  .value { stroke: #ffffff; stroke-width: 3; paint-order: stroke; }"
    print "  .key { text-anchor: start; } .tick { text-anchor: end; }"
    print "  .paper { fill: #ffffff; } .grid { stroke: #d0d7de; } .one { stroke: #1f2328; stroke-width: 1.5; }"
    print "  .bcast { fill: #8c959f; } .allreduce { fill: #0969da; } .alltoall { fill: #bc4c00; }"
    print "  @media (prefers-color-scheme: dark) {"
    print "    text { fill: #e6edf3; } .paper { fill: #0d1117; } .grid { stroke: #30363d; } .one { stroke: #e6edf3; }"
    print "    .value { stroke: #0d1117; }"
    print "    .bcast { fill: #6e7681; } .allreduce { fill: #4493f8; } .alltoall { fill: #db6d28; }"
    print "  }"
    print "</style>"
    printf "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", width, height
    text("title", 16, 26, title)
    for (i = 1; i <= 3; ++i) {
      x = 16 + (i - 1) * 110
      printf "<rect class=\"%s\" x=\"%d\" y=\"38\" width=\"12\" height=\"12\"/>\n", names[i], x
      text("key", x + 18, 48, names[i])
    }
    text("key", 16 + 3 * 110, 48, "above 1, tutti is faster")
    for (tick = 0; tick <= 6; ++tick) {
      line(tick == 1 ? "one" : "grid", height_of(tick))
      text("tick", left - 8, height_of(tick) + 4, tick)
    }
    for (size = 0; size < 5; ++size) {
      x = left + 12 + size * group
      for (i = 1; i <= 3; ++i) {
        value = ratio[names[i], size]
        at = x + (i - 1) * (bar + 2)
        printf "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n", names[i], at, height_of(value), bar, value * unit
        text("value", at + bar / 2, height_of(value) - 5, sprintf("%.2f", value))
      }
      text("size", x + 1.5 * bar + 2, base + 20, sizes[size + 1])
    }
    text("size", left + (width - 16 - left) / 2, base + 40, "bytes per call; the figures are in docs/performance.md")
    print "</svg>"
  }
' "${1:?usage: gain_figure.sh docs/performance.md}"
