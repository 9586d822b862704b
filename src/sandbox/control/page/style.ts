import { stylesheet } from '../../../html/document.ts'

/** The page's style: what all pages wear, and its controls and log. */
export const style = `${stylesheet}
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .25rem .5rem; background: var(--pico-background-color); }
header p { margin-bottom: .75rem; }
#said:not(:empty) { position: sticky; top: 0; z-index: 1; padding: .5rem .9rem; background: var(--new); color: var(--on-new); border-radius: .4rem; }
.controls { display: grid; grid-template-columns: minmax(0, 1fr); gap: .6rem; }
.controls form { display: flex; min-width: 0; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: 0; }
.controls label { margin: 0; font-size: .85rem; flex: 0 1 auto; min-width: 0; max-width: 100%; }
.controls select, .controls input, .controls button, td button { width: auto; max-width: 100%; margin: 0; padding: .3rem .75rem; height: auto; font-size: .9rem; }
.controls select { padding-inline-end: 2rem; }
td button { padding: .1rem .6rem; }
td div { white-space: nowrap; } td div + div { margin-top: .15rem; }
#log { margin: 0; padding: .6rem .9rem; max-height: 24rem; overflow: auto; border: 1px solid var(--edge); border-radius: .4rem; font: .8rem/1.6 ui-monospace, monospace; }
#log p { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
`
