/** Asks the questions of one scenario in the terminal of this process, and writes the answer to stdout. */
import { once } from 'node:events'

import { RefcheckError, PromptBackError } from '../../src/errors/kinds.ts'
import type { Prompter } from '../../src/prompt/prompter.ts'
import { TerminalPrompter } from '../../src/prompt/terminal.ts'

const stopController = new AbortController()
const [scenario = '', color = ''] = process.argv.slice(2)

const terminalPrompter = new TerminalPrompter({
  input: { isTTY: process.stdin.isTTY, stream: process.stdin },
  output: {
    write: (data) => void process.stderr.write(data),
    isTTY: process.stderr.isTTY,
    get columns() {
      return process.stderr.columns
    },
  },
  color: color === 'color',
  signal: stopController.signal,
})

const hostileText = '\u001B]0;owned\u0007\u001B[2J\u202Etxt\u202C\nline'

const scenarios: Record<string, (prompter: Prompter) => Promise<unknown>> = {
  text: (prompter) =>
    prompter.text({
      message: 'Phone',
      help: 'With + and the country calling code.',
      check: (value) => (value.startsWith('+') ? undefined : `has no + (${String(value.length)} so far)`),
    }),
  edit: (prompter) => prompter.text({ message: 'Name', initial: 'Ann' }),
  back: (prompter) =>
    prompter.text({ message: 'Phone', help: 'With +.', canGoBack: true }).catch((error: unknown) => {
      if (error instanceof PromptBackError) return 'went back'
      throw error
    }),
  secret: (prompter) =>
    prompter.secret({
      message: 'API key',
      check: (value) => (value.length === 8 ? undefined : `has ${String(value.length)} characters, not 8`),
    }),
  select: (prompter) =>
    prompter.select({
      message: 'Package',
      choices: [
        { value: { id: 1 }, label: 'First', detail: 'Police check' },
        { value: { id: 2 }, label: 'Second', detail: 'References' },
        { value: { id: 3 }, label: 'Third' },
      ],
      initial: undefined,
    }),
  'long choices': (prompter) =>
    prompter.select({
      message: 'Change which answer?',
      choices: Array.from({ length: 14 }, (_, value) => ({
        value,
        label:
          value === 0
            ? 'Residential address (street: 12 Main Street; number: 4; suburb: Fitzroy; country: Australia)'
            : `Answer ${value}`,
      })),
      isSearchable: true,
    }),
  narrowed: (prompter) =>
    prompter.select({
      message: 'Which package?',
      choices: [101, 102, 110].map((id) => ({ value: id, label: `Package (${String(id)})` })),
      isSearchable: true,
    }),
  confirm: (prompter) => prompter.confirm({ message: 'Add another?' }),
  above: (prompter) =>
    prompter.confirm({
      linesAbove: [
        '  Mobile  → phone  +49',
        `  ${'Department, Start date, '.repeat(5)}→ left out`,
        '  \u001B[2Jtxt\nx',
      ],
      message: 'Are these right?',
      initial: true,
    }),
  long: (prompter) =>
    prompter.confirm({
      message: `Does the provider have a request for ${'Dee Cut '.repeat(4)}in package 102?`,
    }),
  longJapanese: (prompter) => prompter.confirm({ message: `${'注文依頼 '.repeat(12)}?` }),
  confirmYes: (prompter) => prompter.confirm({ message: 'Go on?', initial: true }),
  destructive: async (prompter) => {
    // Simulates a batch that waits before it asks. The question is asked when the width of the window changes.
    process.stderr.write('waiting ')
    const keepAlive = setInterval(() => undefined, 1_000)
    await once(process.stderr, 'resize')
    clearInterval(keepAlive)
    return prompter.confirm({ message: 'Order?', isDestructive: true })
  },
  several: async (prompter) => [
    await prompter.text({ message: 'One' }),
    await prompter.confirm({ message: 'Two' }),
    await prompter.select({ message: 'Three', choices: [{ value: 'x', label: 'X' }] }),
    await prompter.secret({ message: 'Four' }),
  ],
  hostile: (prompter) =>
    prompter.text({
      message: hostileText,
      help: hostileText,
      initial: hostileText,
      check: () => hostileText,
    }),
  hostileChoice: (prompter) =>
    prompter.select({
      message: hostileText,
      choices: [{ value: 1, label: hostileText, detail: hostileText }],
    }),
  stopped: (prompter) =>
    prompter.text({
      message: 'Name',
      check: (value) => {
        if (value === 'x') stopController.abort()
        return undefined
      },
    }),
}

try {
  const answer = await scenarios[scenario]?.(terminalPrompter)
  process.stdout.write(JSON.stringify(answer))
} catch (error) {
  if (!(error instanceof RefcheckError)) throw error
  process.stdout.write(`${error.code}: ${error.message}`)
}
