import { styleText } from 'node:util'

import { type Environment, variable } from '../host/env.ts'
import type { Sink } from './streams.ts'

/** What a view needs to know of the place its text appears in. */
export interface Terminal {
  /** Width to wrap to; undefined where the text goes into a pipe or file, which is never wrapped. */
  readonly columns: number | undefined
  readonly color: boolean
  /** Lines that are seen at once; undefined where nobody looks at a screen. */
  readonly rows?: number | undefined
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'magenta'

/** NO_COLOR (no-color.org), --no-color and a dumb terminal each switch colours off. */
export function terminalOf(sink: Sink, env: Environment, noColor: boolean): Terminal {
  const plain = noColor || variable(env, 'NO_COLOR') !== undefined || env['TERM'] === 'dumb'
  const { isTTY, columns, rows } = sink
  return { columns: isTTY ? columns : undefined, rows: isTTY ? rows : undefined, color: isTTY && !plain }
}

/** `text` in a style, where the terminal shows any. */
export function styled(terminal: Terminal, style: Style, text: string): string {
  return terminal.color && text !== '' ? styleText(style, text, { validateStream: false }) : text
}
