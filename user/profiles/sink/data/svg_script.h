/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The script by which a flame graph answers the mouse. Names are a stranger's: they are only ever
 * set as text. Inside sink_svg.c only. */
#ifndef PROFTRACE_SINK_DATA_SVG_SCRIPT_H
#define PROFTRACE_SINK_DATA_SVG_SCRIPT_H

#define SVG_STYLE                                                   \
	"text{font:12px monospace;fill:#222}.f{cursor:pointer}"     \
	".f:hover rect{stroke:#222}.f text{pointer-events:none}"    \
	".e{fill-opacity:.55}"                                      \
	".big{font-size:15px;text-anchor:middle}.button{fill:#06c;" \
	"cursor:pointer}#found{text-anchor:end}.dim{opacity:.45}"

/* Boxes keep where they were drawn (x, w); zooming makes others of these. */
#define SVG_SCRIPT                                                                               \
	"'use strict';\n"                                                                        \
	"const by = (id) => document.getElementById(id), LEFT = 10, WIDE = 1180;\n"              \
	"const frames = [...document.querySelectorAll('.f')].map((g) => {\n"                     \
	"  const [title, rect, text] = g.children, full = title.textContent;\n"                  \
	"  return { g, rect, text, full, name: full.slice(0, full.lastIndexOf(' (')),\n"         \
	"    x: Number(rect.getAttribute('x')), y: Number(rect.getAttribute('y')),\n"            \
	"    w: Number(rect.getAttribute('width')), fill: rect.getAttribute('fill') };\n"        \
	"});\n"                                                                                  \
	"const round = (v) => Math.round(v * 1e4) / 1e4;\n"                                      \
	"const hint = by('details').textContent;\n"                                              \
	"function label(f, x, w) {\n"                                                            \
	"  const room = w > 28 ? Math.floor((w - 6) / 7) : 0, all = [...f.name];\n"              \
	"  f.text.textContent = all.length <= room ? f.name :\n"                                 \
	"    room ? all.slice(0, room - 1).join('') + '\xe2\x80\xa6' : '';\n"                    \
	"  f.text.setAttribute('x', x + 3);\n"                                                   \
	"}\n"                                                                                    \
	"function zoom(to) {\n"                                                                  \
	"  for (const f of frames) {\n"                                                          \
	"    const mid = f.x + f.w / 2, above = f.y < to.y;\n"                                   \
	"    const holds = above && f.x <= to.x + 0.001 && f.x + f.w >= to.x + to.w - 0.001;\n"  \
	"    const inside = !above && mid >= to.x && mid <= to.x + to.w;\n"                      \
	"    f.g.style.display = holds || inside ? '' : 'none';\n"                               \
	"    if (!holds && !inside) continue;\n"                                                 \
	"    const x = holds ? LEFT : round(LEFT + (f.x - to.x) / to.w * WIDE);\n"               \
	"    const w = holds ? WIDE : round(f.w / to.w * WIDE);\n"                               \
	"    f.rect.setAttribute('x', x);\n"                                                     \
	"    f.rect.setAttribute('width', w);\n"                                                 \
	"    f.g.classList.toggle('dim', holds);\n"                                              \
	"    label(f, x, w);\n"                                                                  \
	"  }\n"                                                                                  \
	"}\n"                                                                                    \
	"function find(what) {\n"                                                                \
	"  const word = (what || '').toLowerCase();\n"                                           \
	"  let share = 0, end = -1, cnt = 0;\n"                                                  \
	"  const hits = frames.filter((f) => word && f.name.toLowerCase().includes(word));\n"    \
	"  const hit = new Set(hits);\n"                                                         \
	"  for (const f of frames)\n"                                                            \
	"    f.rect.setAttribute('fill', hit.has(f) ? '#e600e6' : f.fill);\n"                    \
	"  for (const f of hits.sort((a, b) => a.x - b.x || b.w - a.w)) {\n"                     \
	"    cnt++;\n"                                                                           \
	"    share += Math.max(0, f.x + f.w - Math.max(end, f.x));\n"                            \
	"    end = Math.max(end, f.x + f.w);\n"                                                  \
	"  }\n"                                                                                  \
	"  by('found').textContent = !word ? '' :\n"                                             \
	"    `${cnt} found, ${(100 * share / WIDE).toFixed(1)}%`;\n"                             \
	"}\n"                                                                                    \
	"function ask() { find(prompt('Names that contain:')); }\n"                              \
	"function reset() { find(''); if (frames.length) zoom(frames[0]); }\n"                   \
	"for (const f of frames) {\n"                                                            \
	"  f.g.addEventListener('click', () => zoom(f));\n"                                      \
	"  f.g.addEventListener('mouseenter', () => { by('details').textContent = f.full; });\n" \
	"  f.g.addEventListener('mouseleave', () => { by('details').textContent = hint; });\n"   \
	"}\n"                                                                                    \
	"by('reset').addEventListener('click', reset);\n"                                        \
	"by('search').addEventListener('click', ask);\n"                                         \
	"document.addEventListener('keydown', (e) => {\n"                                        \
	"  if (e.key === 'Escape') reset();\n"                                                   \
	"  if (e.key === '/' || ((e.ctrlKey || e.metaKey) && e.key === 'f')) {\n"                \
	"    e.preventDefault();\n"                                                              \
	"    ask();\n"                                                                           \
	"  }\n"                                                                                  \
	"});\n"

#endif
