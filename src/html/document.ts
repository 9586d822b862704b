import { createHash } from 'node:crypto'

import { html, raw } from 'hono/html'

import { sanitize } from '../host/text.ts'
import { pico } from './pico.ts'

/** A part of a page; `html` has escaped every value in it. */
export type Piece = ReturnType<typeof html>

interface Page {
  title: string
  body: Piece
  /** The only script that runs on the page. */
  script: string
}

/** Renders a page without external resources: it contacts no address, and only its own script runs. */
export async function standalonePage({ title, body, script }: Page): Promise<string> {
  const policy = [
    "default-src 'none'",
    `style-src '${cspDigest(stylesheet)}'`,
    `script-src '${cspDigest(script)}'`,
    // Pico's icons are data URLs in the stylesheet.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${sanitize(title)}</title>
        ${raw(`<style>${stylesheet}</style>`)}
      </head>
      <body>
        ${body} ${raw(`<script>${script}</script>`)}
      </body>
    </html> `
  return String(await page)
}

const cspDigest = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`

/** CSS rules in addition to Pico: colours of statuses, charts, figures, print. */
const ownRules = `
:root {
  --pico-font-size: 100%; --pico-line-height: 1.45; --pico-spacing: .85rem; --pico-typography-spacing-vertical: .75rem;
  --done: #d8f3e1; --on-done: #0b5429; --fill-done: #2c9a59;
  --active: #dde9ff; --on-active: #10408f; --fill-active: #3d7cdb;
  --partial: #d2f1f2; --on-partial: #0b4d53; --fill-partial: #1d98a1;
  --new: #e5eaf1; --on-new: #36445a; --fill-new: #8496ad;
  --bad: #ffe0dc; --on-bad: #8a1414; --fill-bad: #cf3a2f;
  --warn: #ffedd0; --on-warn: #684000; --fill-warn: #d48806;
  --gone: #ece5f6; --on-gone: #513084; --fill-gone: #8b67c2;
  --edge: #c9d1dc;
}
@media only screen and (prefers-color-scheme: dark) {
  :root {
    --done: #113d24; --on-done: #b9efcd; --active: #172f57; --on-active: #c3d9ff; --partial: #0d3c40; --on-partial: #b5ecf0;
    --new: #29323f; --on-new: #d3dce8; --bad: #531b17; --on-bad: #ffc9c3; --warn: #4a3206; --on-warn: #ffdf9f;
    --gone: #36254f; --on-gone: #dcccf5; --edge: #3b4656;
  }
}
body > header, body > main, body > footer { padding-block: 0; }
body > header { padding-block: 1.5rem 0; }
body > header > p.kind + h1 { margin-top: .1rem; }
body > footer { padding-block: 1rem 2rem; color: var(--pico-muted-color); font-size: .85rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin-bottom: .35rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; line-height: 1.3; margin-bottom: .6rem; }
h3 { font-size: .95rem; margin-bottom: .4rem; }
section { margin-bottom: 1.75rem; }
.kind { margin: 0; font-size: .8rem; font-weight: 600; letter-spacing: .06em; text-transform: uppercase; color: var(--pico-muted-color); }
.facts { display: flex; flex-wrap: wrap; gap: .15rem 1.5rem; margin: 0 0 1.25rem; font-size: .92rem; }
.facts div { display: flex; gap: .4rem; min-width: 0; }
.facts dt { color: var(--pico-muted-color); font-weight: 400; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 0 0 1.5rem; padding: 0; }
.tiles div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .7rem .9rem; border: 1px solid var(--edge); border-inline-start: 4px solid var(--edge); border-radius: .4rem; }
.tiles dt { font-weight: 400; font-size: .9rem; color: var(--pico-muted-color); }
.tiles dd { margin: 0; font-size: 1.75rem; font-weight: 650; line-height: 1.15; font-variant-numeric: tabular-nums; }
.tiles small { font-size: .9rem; font-weight: 400; color: var(--pico-muted-color); }
.tiles .done { border-inline-start-color: var(--fill-done); } .tiles .active { border-inline-start-color: var(--fill-active); }
.tiles .bad { border-inline-start-color: var(--fill-bad); } .tiles .warn { border-inline-start-color: var(--fill-warn); }
.pill { display: inline-block; padding: .05rem .5rem; border-radius: 1rem; font-size: .8rem; font-weight: 600; white-space: nowrap; background: var(--new); color: var(--on-new); }
.pill.done { background: var(--done); color: var(--on-done); } .pill.active { background: var(--active); color: var(--on-active); }
.pill.partial { background: var(--partial); color: var(--on-partial); } .pill.bad { background: var(--bad); color: var(--on-bad); }
.pill.warn { background: var(--warn); color: var(--on-warn); } .pill.gone { background: var(--gone); color: var(--on-gone); }
svg .done { fill: var(--fill-done); } svg .active { fill: var(--fill-active); } svg .partial { fill: var(--fill-partial); }
svg .new { fill: var(--fill-new); } svg .bad { fill: var(--fill-bad); } svg .warn { fill: var(--fill-warn); } svg .gone { fill: var(--fill-gone); }
svg .rest { fill: var(--new); } svg .grid { stroke: var(--edge); stroke-width: 1; } svg text { fill: var(--pico-muted-color); font-size: 11px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 1.25rem 2.5rem; }
figure svg { display: block; width: 100%; height: auto; }
figure { margin: 0; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: .6rem 0 0; padding: 0; font-size: .88rem; }
.legend li { list-style: none; margin: 0; display: flex; align-items: center; gap: .4rem; }
.legend svg { width: .8rem; height: .8rem; flex: none; }
.legend b { font-variant-numeric: tabular-nums; }
.todo { margin: 0; padding: 0; border: 1px solid var(--edge); border-radius: .4rem; }
.todo li { list-style: none; margin: 0; padding: .6rem .9rem; display: grid; gap: .3rem; justify-items: start; }
.todo li + li { border-top: 1px solid var(--edge); }
.todo p { margin: 0; overflow-wrap: anywhere; }
.todo + p { margin: .6rem 0 0; }
.todo code { overflow-wrap: anywhere; white-space: normal; }
code { font-size: .8rem; }
.tools { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; margin-bottom: .5rem; }
.tools[hidden] { display: none; }
.tools label { margin: 0; font-size: .85rem; flex: 1 1 14rem; max-width: 22rem; }
.tools input, .tools select { border-radius: .4rem; margin-bottom: 0; height: 2.5rem; padding-block: .3rem; }
.tools output { margin-inline-start: auto; color: var(--pico-muted-color); font-size: .88rem; }
table { font-size: .9rem; margin-bottom: 0; }
table caption { text-align: start; padding: 0 0 .4rem; color: var(--pico-muted-color); }
th, td { padding: .4rem .6rem; vertical-align: baseline; }
td.when, td.id { white-space: nowrap; font-variant-numeric: tabular-nums; }
tbody th { font-weight: 550; } tbody th small { font-weight: 400; color: var(--pico-muted-color); }
td code, th code { white-space: nowrap; }
thead th { white-space: nowrap; font-weight: 600; border-bottom-width: 2px; }
thead th button[type=button] { all: unset; cursor: pointer; }
thead th button[type=button]:focus-visible { outline: 2px solid var(--pico-primary); outline-offset: 2px; }
thead th button::after { content: '\\2195'; opacity: .45; padding-inline-start: .3rem; }
th[aria-sort=ascending] button::after { content: '\\2191'; opacity: 1; } th[aria-sort=descending] button::after { content: '\\2193'; opacity: 1; }
.gauge { display: grid; grid-template-columns: 6rem minmax(5rem, 12rem) minmax(0, 1fr); gap: .2rem .8rem; align-items: center; margin-bottom: .3rem; font-size: .92rem; }
.gauge svg { display: block; width: 100%; max-width: 20rem; }
@media (max-width: 575px) {
  svg text { font-size: 17px; } h1 { font-size: 1.5rem; } .tiles { grid-template-columns: 1fr 1fr; } .tiles dd { font-size: 1.4rem; }
  .gauge { grid-template-columns: minmax(0, 1fr); }
  th.wide, td.wide { display: none; }
  th, td { padding-inline: .3rem; } tbody th { overflow-wrap: anywhere; }
}
@media print {
  @page { size: A4; margin: 11mm 12mm; }
  :root { --pico-font-size: 10.5px; --pico-spacing: .5rem; font-size: 10.5px; }
  .container { max-width: none; padding: 0; }
  .pill, svg, .tiles div { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body > header { padding-block: 0; } section { margin-bottom: 1rem; } .facts, .tiles { margin-bottom: .8rem; }
  .tools, thead th button::after { display: none; }
  .overflow-auto { overflow: visible; }
  th, td { padding: .14rem .4rem; } tr, .todo li, figure { break-inside: avoid; } h2 { break-after: avoid; }
  .pill { padding-block: 0; } code { padding: 0 .2rem; }
}
`

/** The stylesheet of every page. */
export const stylesheet = `${pico.replace(/^@charset [^;]*;/, '')}\n${ownRules}`

/** Sorts and filters the table of people. Without scripts the whole table is shown in its original order. */
export const tableScript = `
const table = document.querySelector('table[data-sorts]')
const tools = document.querySelector('.tools')
if (table && tools) {
  const body = table.tBodies[0]
  const rows = [...body.rows]
  const search = tools.querySelector('input')
  const select = tools.querySelector('select')
  const countOutput = tools.querySelector('output')
  const plain = (text) => text.normalize('NFD').replace(/\\p{M}/gu, '').toLowerCase()
  const texts = new Map(rows.map((row) => [row, plain(row.dataset.find)]))
  const keyOf = (row, at) => row.cells[at].dataset.key ?? row.cells[at].textContent.trim()
  const filter = () => {
    const words = plain(search.value).split(/\\s+/).filter(Boolean)
    let count = 0
    for (const row of rows) {
      const isShown = words.every((word) => texts.get(row).includes(word)) && (select.value === '' || row.dataset.status === select.value)
      row.hidden = !isShown
      if (isShown) count += 1
    }
    countOutput.textContent = count === rows.length ? '' : count + ' of ' + rows.length + ' shown'
  }
  const heads = [...table.tHead.rows[0].cells]
  heads.forEach((head, at) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.append(...head.childNodes)
    head.append(button)
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending'
      for (const each of heads) each.removeAttribute('aria-sort')
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending')
      const compare = new Intl.Collator(undefined, { numeric: true }).compare
      const sorted = [...rows].sort((one, other) => {
        const [a, b] = [keyOf(one, at), keyOf(other, at)]
        if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1
        return up ? compare(a, b) : compare(b, a)
      })
      body.append(...sorted)
    })
  })
  search.addEventListener('input', filter)
  select.addEventListener('change', filter)
  tools.hidden = false
}
`
