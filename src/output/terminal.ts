import type { Readable } from 'node:stream'
import { styleText } from 'node:util'

import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'

import { type Environment, variable } from '../host/process.ts'
import type { Secrets } from '../host/secrets.ts'
import { joinUnits, sanitize, separateUnits } from '../host/text.ts'

/** The properties of the output that a view depends on. */
export interface Terminal {
  /** Width in characters to wrap to; undefined for a pipe or file, where text is never wrapped. */
  readonly columns: number | undefined
  readonly color: boolean
  /** Height in lines; undefined for a pipe or file. */
  readonly rows?: number | undefined
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan' | 'magenta'

/** Returns the properties of an output. NO_COLOR (no-color.org), --no-color and TERM=dumb each switch colours off. */
export function terminalOf(sink: Sink, env: Environment, noColor: boolean): Terminal {
  const isColorOff = noColor || variable(env, 'NO_COLOR') !== undefined || env['TERM'] === 'dumb'
  const { isTTY, columns, rows } = sink
  return { columns: isTTY ? columns : undefined, rows: isTTY ? rows : undefined, color: isTTY && !isColorOff }
}

/** Returns `text` in a style, or unchanged if the style is undefined or the terminal shows no colours. */
export function styled(terminal: Terminal, style: Style | undefined, text: string): string {
  return terminal.color && text !== '' && style !== undefined
    ? styleText(style, text, { validateStream: false })
    : text
}

/** An output for text or bytes. */
export interface Sink {
  write(data: string | Uint8Array): void
  /** Resolves when the data has been handed to the system. Callers that write much data await it. */
  drain(): Promise<void>
  /** The error of a failed write. It is not set if the reader closed the output. */
  readonly failure?: Error | undefined
  /** Aborted when the reader has closed the output. */
  readonly closedSignal?: AbortSignal
  readonly isTTY: boolean
  /** Width in characters; 80 if unknown. */
  readonly columns: number
  /** Height in lines; undefined if unknown. */
  readonly rows?: number | undefined
}

/** An input, such as stdin. */
export interface Source {
  readonly isTTY: boolean
  readonly stream: Readable
}

/** The three standard streams. Tests pass buffers, and the program passes those of the process. */
export interface Streams {
  stdin: Source
  stdout: Sink
  stderr: Sink
}

const defaultColumns = 80

/** Returns the streams of the process. If the reader closes the output (`| head`), later writes are ignored. */
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

/** Returns a sink that redacts the secrets in text. Bytes, such as those of a report, are written unchanged. */
export function redactedSink(sink: Sink, secrets: Secrets): Sink {
  return {
    write: (data) => sink.write(typeof data === 'string' ? secrets.redact(data) : data),
    drain: () => sink.drain(),
    get failure() {
      return sink.failure
    },
    ...(sink.closedSignal && { closedSignal: sink.closedSignal }),
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
  const closeController = new AbortController()
  let failure: Error | undefined
  // The listener of oclif throws every error other than EPIPE.
  stream.removeAllListeners('error')
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The code is EPIPE if the reader of a pipe has closed it, and EIO if the terminal was closed.
    if (error.code !== 'EPIPE' && error.code !== 'EIO') failure = error
    closeController.abort()
  })
  return {
    write(data) {
      if (!closeController.signal.aborted) stream.write(data)
    },
    drain() {
      if (closeController.signal.aborted) return Promise.resolve()
      // A failed write emits its error one turn of the event loop later.
      if (stream.writableLength === 0) return new Promise((resolve) => setImmediate(resolve))
      return new Promise((resolve) => {
        stream.write('', () => resolve())
      })
    },
    get failure() {
      return failure
    },
    closedSignal: closeController.signal,
    isTTY: isTerminal(stream),
    get columns() {
      // A terminal reports 0 if its size was never set.
      return stream.columns > 0 ? stream.columns : defaultColumns
    },
    get rows() {
      return stream.rows > 0 ? stream.rows : undefined
    },
  }
}

/**
 * Returns true if the stream is a terminal. Node omits `isTTY` for other streams. Loading node:tty would take
 * 5 % of the start time.
 */
function isTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true
}

const barWidth = 20

/** Returns `[#####---------------]` for 0.25. The bar is full only for 1 or more, and empty only for 0 or less. */
export function progressBar(fraction: number): string {
  const filledWidth = fraction <= 0 ? 0 : Math.max(1, Math.floor(Math.min(1, fraction) * barWidth))
  return `[${'#'.repeat(filledWidth)}${'-'.repeat(barWidth - filledWidth)}]`
}

/**
 * Returns the progress line of a long job: a bar for the part that is done, a text, and the remaining time if
 * it is known.
 */
export function progressLine(fraction: number, text: string, secondsLeft?: number): string {
  const remaining = secondsLeft === undefined ? '' : `; ${formatDuration(secondsLeft)} left`
  return `${progressBar(fraction)}  ${text}${remaining}`
}

/** Returns a duration in its one or two largest units: 4 s, 3 min, 5 h 10 min, 2 d 3 h. */
export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90 && minutes !== 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const minIndentedWidth = 20

/** Returns `text` with `indent` before each line, wrapped to the remaining width of the terminal. */
export function indentLines(text: string, indent: string, { columns }: Terminal): string {
  const lines =
    columns === undefined ? text : wrapAnsi(text, Math.max(minIndentedWidth, columns - indent.length))
  return lines.replace(/^/gm, indent)
}

/** Matches a sentence that ends in a command (`Resume with: refcheck batch resume 3f2b8c1e`) or in flags to add. */
const sentenceWithCommand = /^(.*?:) ((?:printf .* \| )?refcheck .*|(?<= (?:add|with): )--.*)$/
const continuationIndent = '  '

/**
 * Wraps lines that are longer than `columns` between two words. A command in such a line is moved to separate lines
 * that can be pasted. If `columns` is undefined (pipe or file), the text is returned unchanged.
 */
export function wrapLines(text: string, columns: number | undefined): string {
  if (columns === undefined) return text
  return text
    .split('\n')
    .map((line) => (stringWidth(line) <= columns ? line : wrapLine(line, columns)))
    .join('\n')
}

/** Returns the longest start of a line that is at most `columns` wide. */
export function cutToWidth(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line
  let start = ''
  let width = 0
  for (const character of line) {
    width += stringWidth(character)
    if (width > columns) break
    start += character
  }
  return start
}

function wrapLine(line: string, columns: number): string {
  const [, commandOnly] = /^ +(refcheck .*)$/.exec(line) ?? []
  if (commandOnly !== undefined) return wrapCommand(commandOnly, columns)
  const [, sentence, command] = sentenceWithCommand.exec(line) ?? []
  if (sentence === undefined || command === undefined) return wrapSentence(line, columns)
  return `${wrapSentence(sentence, columns)}\n${wrapCommand(command, columns)}`
}

/**
 * Wraps a line without a command. In an indented line, the continuation is indented further, so that lists
 * stay readable. A number is not separated from its unit.
 */
function wrapSentence(line: string, columns: number): string {
  const [start = ''] = /^ */.exec(line) ?? []
  const text = joinUnits(line.slice(start.length))
  const [firstLine = '', ...otherLines] = wrapAnsi(text, columns - start.length).split('\n')
  const indent = start === '' ? '' : `${start}${continuationIndent}`
  const continuation =
    otherLines.length === 0 ? [] : wrapAnsi(otherLines.join(' '), columns - indent.length).split('\n')
  return separateUnits([start + firstLine, ...continuation.map((each) => indent + each)].join('\n'))
}

/** Splits a command into several lines that a shell joins again. Each line but the last ends in a backslash. */
function wrapCommand(command: string, columns: number): string {
  const lines: string[] = []
  let line = continuationIndent
  for (const word of splitCommand(command)) {
    const longerLine = line.trim() === '' ? `${line}${word}` : `${line} ${word}`
    if (stringWidth(longerLine) + 2 <= columns || line.trim() === '') line = longerLine
    else {
      lines.push(`${line} \\`)
      line = `${continuationIndent}${continuationIndent}${word}`
    }
  }
  return [...lines, line].join('\n')
}

/** Splits a command between words. Quoted text is not split, and a flag is not separated from its value. */
function splitCommand(command: string): string[] {
  const words = command.match(/(?:'[^']*'|\\.|[^\s'])+/g) ?? []
  const parts: string[] = []
  for (const word of words) {
    const lastPart = parts.at(-1)
    if (lastPart !== undefined && /^--[\w-]+$/.test(lastPart) && !word.startsWith('-'))
      parts[parts.length - 1] = `${lastPart} ${word}`
    else parts.push(word)
  }
  return parts
}

/** The colours of the statuses of packages, requests, checks and referees, and of the states of rows and batches. */
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

/** Returns the colour of a status or state; undefined for an unknown one. */
export const statusStyle = (status: string): Style | undefined => statusStyles.get(status)

/** Returns a status of the service in its colour. */
export const styledStatus = (terminal: Terminal, status: string): string =>
  styled(terminal, statusStyle(status), sanitize(status))
