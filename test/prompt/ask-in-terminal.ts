import { once } from 'node:events'

import { RefcheckError, PromptBackError } from '../../src/errors/kinds.ts'
import type { Prompter } from '../../src/prompt/prompter.ts'
import { TerminalPrompter } from '../../src/prompt/terminal.ts'

/** Puts the questions of one scenario on this process's terminal and writes the answer to stdout. */
const stop = new AbortController()
const [scenario = '', color = ''] = process.argv.slice(2)

const prompter = new TerminalPrompter({
  input: { isTTY: process.stdin.isTTY, stream: process.stdin },
  output: {
    write: (data) => void process.stderr.write(data),
    isTTY: process.stderr.isTTY,
    get columns() {
      return process.stderr.columns
    },
  },
  color: color === 'color',
  signal: stop.signal,
})

const hostile = '\u001B]0;owned\u0007\u001B[2J\u202Etxt\u202C\nline'

const scenarios: Record<string, (prompter: Prompter) => Promise<unknown>> = {
  text: (on) =>
    on.text({
      message: 'Phone',
      help: 'With + and the country calling code.',
      check: (value) => (value.startsWith('+') ? undefined : `has no + (${String(value.length)} so far)`),
    }),
  edit: (on) => on.text({ message: 'Name', initial: 'Ann' }),
  back: (on) =>
    on.text({ message: 'Phone', help: 'With +.', canGoBack: true }).catch((error: unknown) => {
      if (error instanceof PromptBackError) return 'went back'
      throw error
    }),
  secret: (on) =>
    on.secret({
      message: 'API key',
      check: (value) => (value.length === 8 ? undefined : `has ${String(value.length)} characters, not 8`),
    }),
  select: (on) =>
    on.select({
      message: 'Package',
      choices: [
        { value: { id: 1 }, label: 'First', detail: 'Police check' },
        { value: { id: 2 }, label: 'Second', detail: 'References' },
        { value: { id: 3 }, label: 'Third' },
      ],
      initial: undefined,
    }),
  'long choices': (on) =>
    on.select({
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
  narrowed: (on) =>
    on.select({
      message: 'Which package?',
      choices: [101, 102, 110].map((id) => ({ value: id, label: `Package (${String(id)})` })),
      isSearchable: true,
    }),
  confirm: (on) => on.confirm({ message: 'Add another?' }),
  above: (on) =>
    on.confirm({
      above: [
        '  Mobile  → phone  +49',
        `  ${'Department, Start date, '.repeat(5)}→ left out`,
        '  \u001B[2Jtxt\nx',
      ],
      message: 'Are these right?',
      initial: true,
    }),
  long: (on) =>
    on.confirm({ message: `Does the provider have a request for ${'Dee Cut '.repeat(4)}in package 102?` }),
  longJapanese: (on) => on.confirm({ message: `${'注文依頼 '.repeat(12)}?` }),
  confirmYes: (on) => on.confirm({ message: 'Go on?', initial: true }),
  grave: async (on) => {
    // As while a batch waits for something else; it goes on once the window has another width.
    process.stderr.write('waiting ')
    const awake = setInterval(() => undefined, 1_000)
    await once(process.stderr, 'resize')
    clearInterval(awake)
    return on.confirm({ message: 'Order?', isDestructive: true })
  },
  several: async (on) => [
    await on.text({ message: 'One' }),
    await on.confirm({ message: 'Two' }),
    await on.select({ message: 'Three', choices: [{ value: 'x', label: 'X' }] }),
    await on.secret({ message: 'Four' }),
  ],
  hostile: (on) => on.text({ message: hostile, help: hostile, initial: hostile, check: () => hostile }),
  hostileChoice: (on) =>
    on.select({ message: hostile, choices: [{ value: 1, label: hostile, detail: hostile }] }),
  stopped: (on) =>
    on.text({
      message: 'Name',
      check: (value) => {
        if (value === 'x') stop.abort()
        return undefined
      },
    }),
}

try {
  const answer = await scenarios[scenario]?.(prompter)
  process.stdout.write(JSON.stringify(answer))
} catch (error) {
  if (!(error instanceof RefcheckError)) throw error
  process.stdout.write(`${error.code}: ${error.message}`)
}
