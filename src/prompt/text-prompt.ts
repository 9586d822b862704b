import { stripVTControlCharacters, styleText } from 'node:util'

import {
  createPrompt,
  isEnterKey,
  isUpKey,
  makeTheme,
  useEffect,
  useKeypress,
  useState,
} from '@inquirer/core'
import { wrapAnsi } from 'fast-wrap-ansi'

interface TextConfig {
  message: string
  help: string
  initial: string
  check: (value: string) => string | undefined
  canGoBack: boolean
  theme: PromptStyle
  /** The width of the terminal in characters. */
  columns: number
}

/** The answer if the user goes back to the previous question. */
const backAnswer = Symbol('went back')

const backHelp = 'Up arrow: back.'

/**
 * Extends inquirer's text input with a line of help, a check while the user types (its reason is yellow, and red after
 * Enter was pressed), and a key to go back.
 */
export const textPrompt = createPrompt<string | typeof backAnswer, TextConfig>((config, done) => {
  const { message, initial, check, canGoBack, theme, columns } = config
  const help = canGoBack ? `${config.help} ${backHelp}`.trim() : config.help
  const [line, setLine] = useState('')
  const [isRefused, setRefused] = useState(false)
  const [answer, setAnswer] = useState<string | undefined>(undefined)
  useEffect((readline) => {
    readline.write(initial)
    setLine(initial)
  }, [])
  useKeypress((key, readline) => {
    if (answer !== undefined) return
    if (canGoBack && isUpKey(key)) {
      setAnswer('(back)')
      done(backAnswer)
      return
    }
    if (!isEnterKey(key)) {
      setLine(readline.line)
      return
    }
    const text = line.trim()
    if (check(text) === undefined) {
      setAnswer(text)
      done(text)
      return
    }
    // Enter has emptied the line, so the typed text is written into it again for the user to correct.
    readline.write(line)
    setRefused(true)
  })

  const { prefix, style } = theme
  const [lastLine = ''] = message.split('\n').slice(-1)
  /** Begins a new line for a text that does not fit after the question, because it would be broken within a word. */
  const gapBefore = (text: string): string =>
    text.length <= columns - lastLine.length - 3 || text.length > columns - 3 ? ' ' : '\n  '
  if (answer !== undefined)
    return `${prefix.done} ${style.message(message)}${gapBefore(answer)}${style.answer(answer)}`
  const problem = line === '' && !isRefused ? undefined : check(line.trim())
  const problemStyle = isRefused ? theme.refusal : theme.invalidWhileTyping
  const textBelow = problem === undefined ? help : `> ${problem}`
  return [
    `${prefix.idle} ${style.message(message)}${gapBefore(line)}${line}`,
    wrapAnsi(textBelow, columns, { hard: true })
      .split('\n')
      .map((part) => (problem === undefined ? style.help(part) : problemStyle(part)))
      .join('\n'),
  ]
})

type Format = Parameters<typeof styleText>[0]

/** The styles of prompts. */
type PromptStyle = ReturnType<typeof promptStyle>

/**
 * Returns a theme for inquirer with or without colours, with inquirer's prefix symbols. inquirer's own theme looks at
 * stdout, but prompts are drawn on stderr, and the caller has already evaluated NO_COLOR and --no-color.
 */
export function promptStyle(color: boolean) {
  const paint =
    (format: Format) =>
    (text: string): string =>
      color ? styleText(format, text, { validateStream: false }) : text
  const { prefix } = makeTheme()
  const prefixSymbol = (status: 'idle' | 'done'): string =>
    stripVTControlCharacters(typeof prefix === 'string' ? prefix : prefix[status])
  const key = paint('bold')
  const dim = paint('dim')
  return {
    /** The style of the reason why an answer is invalid while the user types; `refusal` is its style after Enter. */
    invalidWhileTyping: paint('yellow'),
    refusal: paint('red'),
    prefix: { idle: paint('blue')(prefixSymbol('idle')), done: paint('green')(prefixSymbol('done')) },
    style: {
      answer: paint('cyan'),
      message: paint('bold'),
      error: (text: string) => paint('red')(`> ${text}`),
      defaultAnswer: (text: string) => dim(`(${text})`),
      help: dim,
      highlight: paint('cyan'),
      searchTerm: paint('cyan'),
      description: paint('cyan'),
      disabled: dim,
      key,
      keysHelpTip: (keys: [string, string][], remarks: readonly string[] = []) =>
        [...keys.map(([name, action]) => `${key(name)} ${dim(action)}`), ...remarks.map(dim)].join(
          dim(' • '),
        ),
    },
  }
}
