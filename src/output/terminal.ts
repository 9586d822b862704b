import type { Readable } from 'node:stream'
import { styleText } from 'node:util'

import { type Environment, variable } from '../host/env.ts'
import type { Secrets } from '../host/secrets.ts'

/** What a view needs to know of the place its text appears in. */
export interface Terminal {
  /** Width to wrap to; undefined where the text goes into a pipe or file, which is never wrapped. */
  readonly columns: number | undefined
  readonly color: boolean
  /** Lines that are visible at once; undefined where the output is no terminal. */
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

/** Where text or bytes go, and what is on the other end. */
export interface Sink {
  write(data: string | Uint8Array): void
  /** Resolves when what was written has been handed over; for writers of much. */
  drained(): Promise<void>
  /** Why what was written did not arrive, once that is known; a reader that went away is no failure. */
  readonly failure?: Error | undefined
  /** Aborted when the reader of the output has gone. */
  readonly gone?: AbortSignal
  readonly isTTY: boolean
  /** Width in columns; 80 where it is not known. */
  readonly columns: number
  /** Height in lines, where it is known. */
  readonly rows?: number | undefined
}

/** Where input comes from. */
export interface Source {
  readonly isTTY: boolean
  readonly stream: Readable
}

/** The three standard streams as a value; tests pass buffers, bin passes the process's own. */
export interface Streams {
  stdin: Source
  stdout: Sink
  stderr: Sink
}

const assumedColumns = 80

/** The process's own streams. A reader that went away (`| head`) ends the writing quietly. */
export function processStreams(): Streams {
  return {
    stdin: {
      get isTTY() {
        return isTerminal(process.stdin)
      },
      get stream() {
        return process.stdin
      },
    },
    stdout: sinkOf(process.stdout),
    stderr: sinkOf(process.stderr),
  }
}

/** A sink whose text holds none of the secrets. Bytes, such as a report's, are written as they are. */
export function redactedSink(sink: Sink, secrets: Secrets): Sink {
  return {
    write: (data) => sink.write(typeof data === 'string' ? secrets.redact(data) : data),
    drained: () => sink.drained(),
    get failure() {
      return sink.failure
    },
    ...(sink.gone && { gone: sink.gone }),
    isTTY: sink.isTTY,
    get columns() {
      return sink.columns
    },
    get rows() {
      return sink.rows
    },
  }
}

function sinkOf(stream: NodeJS.WriteStream & { fd: number }): Sink {
  const gone = new AbortController()
  let failure: Error | undefined
  // oclif's own throws whatever is no EPIPE.
  stream.removeAllListeners('error')
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // EPIPE of a pipe, EIO of a terminal that was closed.
    if (error.code !== 'EPIPE' && error.code !== 'EIO') failure = error
    gone.abort()
  })
  return {
    write(data) {
      if (!gone.signal.aborted) stream.write(data)
    },
    drained() {
      if (gone.signal.aborted) return Promise.resolve()
      // A write that failed says so a turn later.
      if (stream.writableLength === 0) return new Promise((resolve) => setImmediate(resolve))
      return new Promise((resolve) => {
        stream.write('', () => resolve())
      })
    },
    get failure() {
      return failure
    },
    gone: gone.signal,
    isTTY: isTerminal(stream),
    get columns() {
      // A terminal that was never given a size says 0.
      return stream.columns > 0 ? stream.columns : assumedColumns
    },
    get rows() {
      return stream.rows > 0 ? stream.rows : undefined
    },
  }
}

/** Node leaves the property out where there is no terminal. node:tty would say, and costs a twentieth of a start. */
function isTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true
}
