"""How the report looks, in light and in dark, on screen and on paper."""

STYLE = """
:root { color-scheme: light dark; --text: #1a1f24; --muted: #57606a; --line: #d0d7de; --back: #ffffff;
  --mark: #0b62b0; --band: #b6d4f0; --worse: #a40e26; --better: #116329; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --muted: #9aa5b1; --line: #3d444d; --back: #0d1117;
  --mark: #6cb6ff; --band: #1f4b77; --worse: #ff8f8a; --better: #6fdd8b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--back); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
p.about, caption, figcaption, .muted { color: var(--muted); } caption { text-align: left; padding-bottom: .5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .75rem .3rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; }
tbody th { white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.better { color: var(--better); } .worse { color: var(--worse); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; }
figure { margin: 0; } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; } svg .muted { fill: var(--muted); }
svg .axis { stroke: var(--line); fill: none; } svg .line { stroke: var(--mark); fill: none; stroke-width: 2; }
svg .band { fill: var(--band); } svg .dot { fill: var(--mark); } svg .ideal { stroke: var(--muted); fill: none;
  stroke-dasharray: 4 4; } svg .range { stroke: var(--mark); stroke-width: 2; }
@media print { body { max-width: none; } }
"""
