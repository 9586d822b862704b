import { stripVTControlCharacters, styleText } from 'node:util'

import { makeTheme } from '@inquirer/core'

type Format = Parameters<typeof styleText>[0]

/** How a prompt is drawn. */
export type PromptStyle = ReturnType<typeof promptStyle>

/**
 * inquirer's own theme asks stdout whether it shows colours; prompts are drawn on stderr, and the caller
 * knows what was asked for with NO_COLOR and --no-color. The signs stay inquirer's.
 */
export function promptStyle(color: boolean) {
  const paint =
    (format: Format) =>
    (text: string): string =>
      color ? styleText(format, text, { validateStream: false }) : text
  const { prefix } = makeTheme()
  const sign = (status: 'idle' | 'done'): string =>
    stripVTControlCharacters(typeof prefix === 'string' ? prefix : prefix[status])
  const key = paint('bold')
  const dim = paint('dim')
  return {
    /** A reason while the answer is typed, and once Enter was pressed on it. */
    doubt: paint('yellow'),
    refusal: paint('red'),
    prefix: { idle: paint('blue')(sign('idle')), done: paint('green')(sign('done')) },
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
      keysHelpTip: (keys: [string, string][]) =>
        keys.map(([name, action]) => `${key(name)} ${dim(action)}`).join(dim(' • ')),
    },
  }
}
