/** Style of the page: light and dark, for widths from 360 pixels. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1c2024, #e6e8ea); --paper: light-dark(#fbfbf9, #15181b); --card: light-dark(#fff, #1d2125);
  --line: light-dark(#d8dadc, #3a4046); --soft: light-dark(#5b6168, #a3aab1); --mark: light-dark(#fff0b8, #4a3f10);
  --accent: light-dark(#0b5cad, #7db8f0); --moves: light-dark(#c2410c, #ff9a5c);
  font: 16px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 88rem; padding: 1rem; }
h1 { font-size: 1.35rem; margin: .2rem 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: .2rem 0; min-height: 1.6em; overflow-wrap: anywhere; }
h3 { font-size: .85rem; margin: .8rem 0 .2rem; color: var(--soft); font-weight: 600; }
p { margin: .2rem 0 .6rem; max-width: 60rem; }
.soft { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
nav { position: sticky; top: 0; z-index: 2; background: var(--paper); padding: .5rem 0; display: flex; gap: .5rem;
  align-items: center; flex-wrap: wrap; border-bottom: 1px solid var(--line); margin-bottom: .8rem; }
nav input { flex: 1 1 8rem; min-width: 6rem; accent-color: var(--accent); }
button { font: inherit; padding: .35rem .8rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card);
  color: inherit; cursor: pointer; min-width: 2.75rem; min-height: 2.75rem; }
#play { min-width: 5.5rem; }
button:disabled { opacity: .4; cursor: default; }
:focus-visible { outline: 3px solid #56b4e9; outline-offset: 2px; }
main { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 1100px) { main { grid-template-columns: minmax(0, 1fr) minmax(0, 34rem); } }
section { min-width: 0; }
.scroll { overflow-x: auto; padding: .2rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.flow { position: relative; }
.flow svg { position: absolute; inset: 0; overflow: visible; pointer-events: none; }
.key { position: absolute; display: grid; place-items: center; height: 2rem; border-radius: 5px; border: 1px solid #0003;
  font: 600 .85rem ui-monospace, monospace; color: #111; transition: transform .5s ease, top .5s ease, left .5s ease; }
.key.plain { background: var(--card); color: var(--ink); border-color: var(--line); }
.ghost { position: absolute; height: 2rem; border-radius: 5px; border: 1px dashed var(--line); }
path { fill: none; stroke-width: 1.6; }
.moves { stroke: var(--moves); }
.stays { stroke: var(--line); stroke-dasharray: 4 4; }
.wire { stroke: var(--line); stroke-width: 1; }
.comparator { stroke: var(--soft); stroke-width: 1.4; opacity: .55; }
.comparator.now { stroke: var(--moves); stroke-width: 3; opacity: 1; }
table { border-collapse: collapse; font: .8rem ui-monospace, monospace; }
th { text-align: left; font: .8rem system-ui, sans-serif; font-weight: 600; padding: .1rem .8rem .1rem .2rem; white-space: nowrap;
  position: sticky; left: 0; background: var(--card); }
td { text-align: right; padding: .1rem .35rem; white-space: nowrap; }
td.first { border-left: 2px solid var(--accent); }
td.digit { color: #111; border-radius: 3px; }
td.zero, td.off { color: var(--soft); opacity: .6; }
td.on { color: var(--moves); font-weight: 700; }
.grid td { min-width: 2.6rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .5rem; margin: .8rem 0; }
dl div { border: 1px solid var(--line); border-radius: 8px; padding: .4rem .6rem; background: var(--card); }
dt { color: var(--soft); font-size: .78rem; }
dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; }
dd.bad { color: var(--moves); }
pre { margin: 0; font: .74rem/1.5 ui-monospace, monospace; counter-reset: none; min-width: max-content; }
pre span { display: block; padding: 0 .5rem; white-space: pre; }
pre span::before { content: attr(data-line); display: inline-block; width: 3em; color: var(--soft); text-align: right;
  margin-right: 1em; user-select: none; }
pre span.marked { background: var(--mark); box-shadow: inset 3px 0 var(--accent); }
.source { max-height: 70vh; overflow: auto; }
@media (prefers-reduced-motion: reduce) { .key { transition: none; } }
@media print { nav { position: static; } .source { max-height: none; } }
`;
