import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import { onTestFinished } from 'vitest'

export interface Screen {
  /**
   * Resolves once `text` occurs more often than when keys were pressed last, and the screen is fully drawn.
   */
  until(text: string | RegExp): Promise<void>
  press(keys: string): void
  /** The visible lines: at most 24. */
  visibleText(): string
  /** All lines from the start, including those scrolled out. */
  fullText(): string
}

/** Marks lines in italics, which are those of stderr: see `italicErrors`. */
const errorMark = '2> '

export interface ScreenOptions {
  cwd: string
  env: Record<string, string>
  rows?: number | undefined
}

/** After this long without output, the screen counts as fully drawn. */
const quietMs = 150

/** Runs a program in a pseudo-terminal of 80x24, and emulates its screen. The program ends with the test. */
export function openScreen(
  program: string,
  args: readonly string[],
  { cwd, env, rows = 24 }: ScreenOptions,
): Screen {
  const terminal = new xterm.Terminal({ cols: 80, rows, scrollback: 5_000, allowProposedApi: true })
  const process = spawn(program, [...args], { cols: 80, rows, cwd, env: { TERM: 'xterm-256color', ...env } })
  let isRunning = true
  let check = (): void => undefined
  process.onData((data) => terminal.write(data, () => check()))
  process.onExit(() => {
    isRunning = false
    check()
  })
  // Answers queries of the program to the terminal, such as for the cursor position.
  terminal.onData((answer) => isRunning && process.write(answer))
  onTestFinished(() => {
    if (isRunning) process.kill('SIGKILL')
    terminal.dispose()
  })

  const lines = (from: number, to: number, mark = ''): string[] =>
    Array.from({ length: to - from }, (_, at) => {
      const line = terminal.buffer.active.getLine(from + at)
      const text = (line?.translateToString(true) ?? '').trimEnd()
      const isError = Array.from(text, (_char, x) => line?.getCell(x)?.isItalic()).some(Boolean)
      return isError ? mark + text : text
    })
  const countUsedLines = (): number => terminal.buffer.active.baseY + terminal.buffer.active.cursorY + 1
  const readAllLines = (mark?: string): string =>
    lines(0, Math.max(countUsedLines(), terminal.buffer.active.length), mark).join('\n').trimEnd()
  const countMatches = (text: string | RegExp, within: string): number =>
    typeof text === 'string'
      ? within.split(text).length - 1
      : [...within.matchAll(new RegExp(text.source, `g${text.flags}`))].length
  let textBeforeKeys = ''
  return {
    until(text) {
      const hasAppeared = (): boolean =>
        countMatches(text, readAllLines()) > countMatches(text, textBeforeKeys)
      return new Promise((resolve, reject) => {
        let drawnTimer: NodeJS.Timeout | undefined
        const finish = (why: string): void => {
          check = () => undefined
          clearTimeout(deadline)
          clearTimeout(drawnTimer)
          if (hasAppeared()) resolve()
          else
            reject(
              new Error(
                `${why} ${String(text)} came; the screen was:\n${lines(0, countUsedLines()).join('\n')}`,
              ),
            )
        }
        const deadline = setTimeout(() => finish('20 seconds passed before'), 20_000)
        check = () => {
          clearTimeout(drawnTimer)
          if (!isRunning) finish('ended before')
          // A menu is drawn in several writes.
          else if (hasAppeared()) drawnTimer = setTimeout(() => finish('gone before'), quietMs)
        }
        check()
      })
    },
    press(keys) {
      textBeforeKeys = readAllLines()
      process.write(keys)
    },
    visibleText() {
      const { baseY } = terminal.buffer.active
      return lines(baseY, baseY + rows, errorMark)
        .join('\n')
        .trimEnd()
    },
    fullText: () => readAllLines(errorMark),
  }
}
