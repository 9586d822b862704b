import type { Readable } from 'node:stream'
import { styleText } from 'node:util'

import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'

import { type Environment, variable } from '../host/process.ts'
import type { Secrets } from '../host/secrets.ts'
import { sanitize } from '../host/text.ts'

/** What a view needs to know of where its text appears. */
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

/** `text` in a style, where there is one and the terminal shows any. */
export function styled(terminal: Terminal, style: Style | undefined, text: string): string {
  return terminal.color && text !== '' && style !== undefined
    ? styleText(style, text, { validateStream: false })
    : text
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
      // A write that failed reports it one turn of the event loop later.
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
      // A terminal whose size was never set reports 0.
      return stream.columns > 0 ? stream.columns : assumedColumns
    },
    get rows() {
      return stream.rows > 0 ? stream.rows : undefined
    },
  }
}

/** Node leaves the property out where there is no terminal. node:tty would know, and costs a twentieth of a start. */
function isTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true
}

const barWidth = 20

/** `[#####---------------]` for a quarter: full only where all of it is, and empty only where nothing is. */
export function bar(part: number): string {
  const done = part <= 0 ? 0 : Math.max(1, Math.floor(Math.min(1, part) * barWidth))
  return `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}]`
}

/** The one line that everything long shows: how much of it is done, in words, and the seconds that are left where they are known. */
export function progressLine(part: number, text: string, secondsLeft?: number): string {
  const left = secondsLeft === undefined ? '' : `; ${formatDuration(secondsLeft)} left`
  return `${bar(part)}  ${text}${left}`
}

/** 4 s, 3 min, 5 h 10 min, 2 d 3 h: as exact as a person needs it. */
export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90 && minutes !== 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const narrowest = 20

/** Text below a heading, every line of it behind `indent`, wrapped to what is left of the terminal. */
export function indentLines(text: string, indent: string, { columns }: Terminal): string {
  const lines = columns === undefined ? text : wrapAnsi(text, Math.max(narrowest, columns - indent.length))
  return lines.replace(/^/gm, indent)
}

/** A command at the end of a line, after a colon: `Resume with: refcheck batch resume 3f2b8c1e`; or the flags to add to one. */
const withCommand = /^(.*?:) ((?:printf .* \| )?refcheck .*|(?<= add: )--.*)$/
const continuationIndent = '  '

/**
 * Text for a terminal of that width: a line that is too long goes on below, between two words. A command then has a
 * line of its own and can be pasted, however long it is. Text for a pipe or file (`undefined`) stays as it is.
 */
export function wrapLines(text: string, columns: number | undefined): string {
  if (columns === undefined) return text
  return text
    .split('\n')
    .map((line) => (stringWidth(line) <= columns ? line : wrappedLine(line, columns)))
    .join('\n')
}

/** As much of the start of a line as has room in so many columns. */
export function cutTo(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line
  let cut = ''
  let taken = 0
  for (const character of line) {
    taken += stringWidth(character)
    if (taken > columns) break
    cut += character
  }
  return cut
}

function wrappedLine(line: string, columns: number): string {
  const [, alone] = /^ +(refcheck .*)$/.exec(line) ?? []
  if (alone !== undefined) return wrappedCommand(alone, columns)
  const [, sentence, command] = withCommand.exec(line) ?? []
  if (sentence === undefined || command === undefined) return wrappedSentence(line, columns)
  return `${wrappedSentence(sentence, columns)}\n${wrappedCommand(command, columns)}`
}

/** Continuation lines are indented like their first line, so that a list still looks like one. */
function wrappedSentence(line: string, columns: number): string {
  const [start = ''] = /^ */.exec(line) ?? []
  const [first = '', ...rest] = wrapAnsi(line.slice(start.length), columns - start.length).split('\n')
  const below = start === '' ? '' : `${start}${continuationIndent}`
  const again = rest.length === 0 ? [] : wrapAnsi(rest.join(' '), columns - below.length).split('\n')
  return [start + first, ...again.map((each) => below + each)].join('\n')
}

/** As a shell takes several lines for one: a blank, a backslash and a line end between two words. */
function wrappedCommand(command: string, columns: number): string {
  const lines: string[] = []
  let line = continuationIndent
  for (const word of wordsOf(command)) {
    const next = line.trim() === '' ? `${line}${word}` : `${line} ${word}`
    if (stringWidth(next) + 2 <= columns || line.trim() === '') line = next
    else {
      lines.push(`${line} \\`)
      line = `${continuationIndent}${continuationIndent}${word}`
    }
  }
  return [...lines, line].join('\n')
}

/** A blank between quotes belongs to the word, and a flag stays on the line of its value. */
function wordsOf(command: string): string[] {
  const words = command.match(/(?:'[^']*'|\\.|[^\s'])+/g) ?? []
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && /^--[\w-]+$/.test(last) && !word.startsWith('-'))
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** One colour for each status of packages, requests, checks and referees, and each state of rows and batches; none for one we do not know. */
const statusStyles: ReadonlyMap<string, Style> = new Map(
  Object.entries({
    green: ['COMPLETED', 'ACTIVE', 'accepted', 'done'],
    yellow: ['PARTIAL', 'INACTIVE', 'DISABLED', 'duplicate', 'held', 'dropped', 'stopped'],
    blue: ['IN_PROGRESS', 'sending', 'running'],
    cyan: ['RECEIVED'],
    red: ['ERROR', 'unknown', 'rejected', 'invalid', 'halted'],
    magenta: ['CANCELLED', 'cancelled'],
  } satisfies Partial<Record<Style, string[]>>).flatMap(([style, statuses]) =>
    statuses.map((status) => [status, style as Style] as const),
  ),
)

export const statusStyle = (status: string): Style | undefined => statusStyles.get(status)

/** A status of the service in its colour. */
export const styledStatus = (terminal: Terminal, status: string): string =>
  styled(terminal, statusStyle(status), sanitize(status))
