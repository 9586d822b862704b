import { type FlagRepeater, repeatNoFlags } from '../domain/wording/pasted-command.ts'
import type { Clock } from '../host/clock.ts'
import { sanitize } from '../host/text.ts'
import { cutTo, wrapLines, type Sink, styled, type Terminal } from './terminal.ts'

const eraseLine = '\r\u001B[2K'
const lineUp = '\u001B[1A'

/** What is printed on stderr: notes that stay, and lines that change with the progress. */
export class Reporter {
  readonly #sink: Sink
  readonly #terminal: Terminal
  readonly #quiet: boolean
  readonly #keep: FlagRepeater
  /** How many lines are on the screen that will change. */
  #live = 0

  /** `keep`: repeats in commands what was typed. */
  constructor(sink: Sink, terminal: Terminal, quiet: boolean, keep: FlagRepeater = repeatNoFlags) {
    this.#sink = sink
    this.#terminal = terminal
    this.#quiet = quiet
    this.#keep = keep
  }

  get terminal(): Terminal {
    return this.#terminal
  }

  /** Whether a line can change in place. */
  get isLive(): boolean {
    return this.#sink.isTTY
  }

  /** A line that stays. */
  note(text: string): void {
    if (this.#quiet) return
    this.#clear()
    this.#sink.write(`${wrapLines(this.#keep(sanitize(text, { lines: true })), this.#terminal.columns)}\n`)
  }

  /** Text that a view has drawn, styles and all. */
  block(text: string): void {
    this.#clear()
    this.#sink.write(`\n${wrapLines(this.#keep(text), this.#terminal.columns)}\n\n`)
  }

  /** A line that matters even with --quiet. */
  warn(text: string): void {
    this.#clear()
    const warning = wrapLines(
      `Warning: ${this.#keep(sanitize(text, { lines: true }))}`,
      this.#terminal.columns,
    )
    this.#sink.write(`${warning.replace('Warning:', styled(this.#terminal, 'yellow', 'Warning:'))}\n`)
  }

  /** The line that changes in place on a terminal; elsewhere nothing, its milestones are notes. */
  status(text: string): void {
    this.live([text])
  }

  /** The same of several lines, which change together. */
  live(lines: readonly string[]): void {
    if (this.#quiet || !this.#sink.isTTY) return
    const width = (this.#terminal.columns ?? 80) - 1
    // What has scrolled off cannot be drawn again.
    const maxLines = Math.max(1, (this.#sink.rows ?? 24) - 1)
    const shown = lines
      .slice(0, maxLines)
      .map((line) =>
        styled(this.#terminal, 'dim', cutTo(this.#keep(sanitize(line, { layout: true })), width)),
      )
    this.#sink.write(`${this.#erasing()}${shown.join('\n')}`)
    this.#live = shown.length
  }

  /** One line an exchange, for --verbose. */
  exchange(text: string): void {
    this.#clear()
    this.#sink.write(`${styled(this.#terminal, 'dim', sanitize(text))}\n`)
  }

  /** Takes the changing line away, before an answer or the end. */
  done(): void {
    this.#clear()
  }

  #clear(): void {
    if (this.#live > 0) this.#sink.write(this.#erasing())
    this.#live = 0
  }

  #erasing(): string {
    return `${`${eraseLine}${lineUp}`.repeat(Math.max(0, this.#live - 1))}${eraseLine}`
  }
}

const everyMs = 60_000

/** How far a long job has come: a line that changes in place on a terminal, elsewhere one every minute. */
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
    if (this.#reporter.isLive || now - this.#notedAt < everyMs) return
    this.#notedAt = now
    this.#reporter.note(text)
  }
}
