import { wrapAnsi } from 'fast-wrap-ansi'

import type { Terminal } from './terminal.ts'

const narrowest = 20

/** Text below a heading, every line of it behind `indent`, wrapped to what is left of the terminal. */
export function indented(text: string, indent: string, { columns }: Terminal): string {
  const lines = columns === undefined ? text : wrapAnsi(text, Math.max(narrowest, columns - indent.length))
  return lines.replace(/^/gm, indent)
}
