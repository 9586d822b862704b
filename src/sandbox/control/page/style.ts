/** The page's style: light and dark by the reader's choice, usable at 320 pixels. */
export const style = `
:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #8c959f; --fill: #0b57d0; --on-fill: #ffffff; --raised: #f3f5f8;
  font: 16px/1.5 system-ui, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14181d; --text: #e8ecf1; --soft: #a9b4c0; --line: #6b7785; --fill: #8ab4f8; --on-fill: #10141a; --raised: #1d232b;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 0 1rem 3rem; background: var(--back); color: var(--text); }
a { color: var(--fill); }
h1 { font-size: 1.5rem; margin: 1rem 0 0; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
header p, small, caption, dt { color: var(--soft); }
caption { text-align: left; padding: .25rem 0; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .25rem .5rem; }
:focus-visible { outline: 3px solid var(--fill); outline-offset: 2px; }
dl { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 0; }
dl div { display: flex; gap: .4rem; }
dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.controls { display: grid; grid-template-columns: minmax(0, 1fr); gap: .75rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
label { min-width: 0; max-width: 100%; }
select { max-width: 100%; width: 28rem; }
dl div { min-width: 0; }
button, select, input { font: inherit; padding: .35rem .7rem; border-radius: .35rem; border: 1px solid var(--line); max-width: 100%; color: var(--text); background: var(--raised); }
button { background: var(--fill); color: var(--on-fill); border-color: var(--fill); cursor: pointer; min-height: 2.2rem; }
.gauge { margin: .2rem 0; }
meter { width: 12rem; max-width: 60%; height: 1rem; vertical-align: middle; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem .4rem 0; border-bottom: 1px solid var(--line); }
th[scope=row] { font-weight: 500; overflow-wrap: anywhere; }
code { font: .8rem/1.4 ui-monospace, monospace; }
#log { margin: 0; padding: .5rem; list-style: none; max-height: 24rem; overflow: auto; background: var(--raised); font: .85rem/1.5 ui-monospace, monospace; }
#log li { overflow-wrap: anywhere; white-space: pre-wrap; }
#said:not(:empty) { position: sticky; top: 0; margin: .5rem 0; padding: .5rem; background: var(--raised); border-left: 4px solid var(--fill); }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`
