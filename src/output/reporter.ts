import { type FlagRepeater, repeatNoFlags } from '../domain/wording/pasted-command.ts'
import type { Clock } from '../host/clock.ts'
import { sanitize } from '../host/text.ts'
import { cutToWidth, wrapLines, type Sink, styled, type Terminal } from './terminal.ts'

const eraseLine = '\r\u001B[2K'
const lineUp = '\u001B[1A'

/** Prints permanent notes and live lines on stderr. Live lines are replaced as the work progresses. */
export class Reporter {
  readonly #sink: Sink
  readonly #terminal: Terminal
  readonly #quiet: boolean
  readonly #repeatFlags: FlagRepeater
  #liveLineCount = 0

  /** `repeatFlags` adds the user's global flags to the commands in a text. */
  constructor(sink: Sink, terminal: Terminal, quiet: boolean, repeatFlags: FlagRepeater = repeatNoFlags) {
    this.#sink = sink
    this.#terminal = terminal
    this.#quiet = quiet
    this.#repeatFlags = repeatFlags
  }

  get terminal(): Terminal {
    return this.#terminal
  }

  /** Whether live lines can be replaced in place, which needs a terminal. */
  get isLive(): boolean {
    return this.#sink.isTTY
  }

  /** Prints a permanent line, except with --quiet. */
  note(text: string): void {
    if (this.#quiet) return
    this.clear()
    this.#sink.write(
      `${wrapLines(this.#repeatFlags(sanitize(text, { keepsLines: true })), this.#terminal.columns)}\n`,
    )
  }

  /** Prints the text of a view unchanged, with its styles and with an empty line before and after it. */
  printBlock(text: string): void {
    this.clear()
    this.#sink.write(`\n${wrapLines(this.#repeatFlags(text), this.#terminal.columns)}\n\n`)
  }

  /** Prints a permanent line that starts with "Warning:", also with --quiet. */
  warn(text: string): void {
    this.clear()
    const warning = wrapLines(
      `Warning: ${this.#repeatFlags(sanitize(text, { keepsLines: true }))}`,
      this.#terminal.columns,
    )
    this.#sink.write(`${warning.replace('Warning:', styled(this.#terminal, 'yellow', 'Warning:'))}\n`)
  }

  /**
   * Replaces the live lines by one line. Does nothing outside a terminal, where callers print milestones with `note`.
   */
  status(text: string): void {
    this.live([text])
  }

  /** Replaces the live lines. Does nothing outside a terminal, where callers print milestones with `note`. */
  live(lines: readonly string[]): void {
    if (this.#quiet || !this.#sink.isTTY) return
    const width = (this.#terminal.columns ?? 80) - 1
    // A line that has scrolled off the screen cannot be erased.
    const maxLines = Math.max(1, (this.#sink.rows ?? 24) - 1)
    const shownLines = lines
      .slice(0, maxLines)
      .map((line) =>
        styled(
          this.#terminal,
          'dim',
          cutToWidth(this.#repeatFlags(sanitize(line, { keepsLayout: true })), width),
        ),
      )
    this.#sink.write(`${this.#eraseSequence()}${shownLines.join('\n')}`)
    this.#liveLineCount = shownLines.length
  }

  /** Prints the line of one HTTP exchange, for --verbose. */
  exchange(text: string): void {
    this.clear()
    this.#sink.write(`${styled(this.#terminal, 'dim', sanitize(text))}\n`)
  }

  /** Erases the live lines, before an answer is printed or the process ends. */
  clear(): void {
    if (this.#liveLineCount > 0) this.#sink.write(this.#eraseSequence())
    this.#liveLineCount = 0
  }

  #eraseSequence(): string {
    return `${`${eraseLine}${lineUp}`.repeat(Math.max(0, this.#liveLineCount - 1))}${eraseLine}`
  }
}

const noteIntervalMs = 60_000

/** Shows the progress of a long job: in a live line on a terminal, otherwise in one note per minute. */
export class Progress {
  readonly #reporter: Reporter
  readonly #clock: Clock
  #notedAt: number

  constructor(reporter: Reporter, clock: Clock) {
    this.#reporter = reporter
    this.#clock = clock
    this.#notedAt = clock.monotonic()
  }

  show(text: string): void {
    this.#reporter.status(text)
    const now = this.#clock.monotonic()
    if (this.#reporter.isLive || now - this.#notedAt < noteIntervalMs) return
    this.#notedAt = now
    this.#reporter.note(text)
  }
}
