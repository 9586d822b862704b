import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

import { describe, expect, test } from 'vitest'

import { TerminalPrompter } from '../../src/prompt/terminal.ts'
import { keys, openTerminal, type Terminal } from '../harness/terminal.ts'

const program = fileURLToPath(new URL('ask-in-terminal.ts', import.meta.url))
const askScenario = (scenario: string, color = 'plain'): Promise<Terminal> =>
  openTerminal([program, scenario, color])

/**
 * Returns the escape sequences in the raw output of a terminal, without the escape character, each with the text
 * after it.
 */
function listSequences(raw: string): string[] {
  return raw.split('\u001B').slice(1)
}

const showCursorSequence = /^\[\?25h/

test('a question that is wider than the terminal is broken between two words', async () => {
  const terminal = await askScenario('long')
  await terminal.until(/Dee Cut in\s+package 102\?/)
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: 'false' })
})

test('a question of double-width characters is broken between two words too', async () => {
  const terminal = await askScenario('longJapanese')
  await terminal.until('(y/N)')
  terminal.type(keys.enter)
  await terminal.ended
  const screen = stripVTControlCharacters(terminal.raw())
  expect(screen).toContain('注文依頼')
  expect(screen).not.toMatch(/注\s|注文\s|注文依\s/)
})

test('lines above a question keep their layout, are wrapped with the same indent, and show all their text', async () => {
  const terminal = await askScenario('above')
  await terminal.until('Are these right? (Y/n)')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: 'true' })
  const lines = stripVTControlCharacters(terminal.raw()).split(/\r*\n/)
  expect(lines.slice(0, 4)).toEqual([
    '  Mobile  → phone  +49',
    '  Department, Start date, Department, Start date, Department, Start date,',
    '  Department, Start date, Department, Start date, → left out',
    '  txt x',
  ])
})

test('a menu does not wrap: Up at its first line stays there, and Down at its last', async () => {
  const first = await askScenario('select')
  await first.until('Package')
  first.type(`${keys.up}${keys.enter}`)
  expect(await first.ended).toEqual({ code: 0, stdout: '{"id":1}' })
  const last = await askScenario('select')
  await last.until('Package')
  last.type(`${keys.down.repeat(5)}${keys.enter}`)
  expect(await last.ended).toEqual({ code: 0, stdout: '{"id":3}' })
})

describe('a line of text', () => {
  test('shows its help, then why the typed text is invalid, then accepts the text; stdout has only the answer', async () => {
    const terminal = await askScenario('text')
    await terminal.until('? Phone')
    await terminal.until('With + and the country calling code.')
    terminal.type('04')
    await terminal.until('> has no + (2 so far)')
    terminal.type(keys.enter)
    await terminal.until('? Phone 04')
    terminal.type(`${keys.backspace}${keys.backspace}`)
    await terminal.until('> has no + (0 so far)')
    terminal.type('+61 ')
    await terminal.until('With + and the country calling code.')
    terminal.type(keys.enter)
    await terminal.until('Phone +61')
    expect(await terminal.ended).toEqual({ code: 0, stdout: '"+61"' })
  })

  test('an invalid answer remains in the line after Enter, so that the user can correct it', async () => {
    const terminal = await askScenario('text')
    await terminal.until('With + and')
    terminal.type('4')
    await terminal.until('? Phone 4')
    terminal.type(keys.enter)
    await terminal.until('? Phone 4')
    terminal.type(`${keys.ctrlU}+4`)
    await terminal.until('? Phone +4')
    terminal.type(keys.enter)
    expect(await terminal.ended).toEqual({ code: 0, stdout: '"+4"' })
  })

  test('an empty answer is refused only after Enter', async () => {
    const terminal = await askScenario('text')
    await terminal.until('With + and')
    expect(terminal.raw()).not.toContain('has no +')
    terminal.type(keys.enter)
    await terminal.until('> has no + (0 so far)')
    terminal.type(keys.ctrlC)
    await terminal.ended
  })

  test('a reason that is wider than the terminal is broken between words', async () => {
    const terminal = await openTerminal([program, 'text', 'plain'], 24)
    await terminal.until(/With \+ and the country\s+calling code\./)
    terminal.type('0400 000 000')
    await terminal.until(/> has no \+ \(12 so\s+far\)/)
    terminal.type(keys.ctrlC)
    expect((await terminal.ended).code).toBe(0)
  })

  test('the initial text can be accepted, changed and cleared', async () => {
    const answers = await Promise.all(
      ['', 'a', keys.ctrlU].map(async (typed) => {
        const terminal = await askScenario('edit')
        await terminal.until('? Name Ann')
        if (typed !== '') {
          terminal.type(typed)
          await terminal.until(typed === 'a' ? '? Name Anna' : /\? Name(?! A)/)
        }
        terminal.type(keys.enter)
        return (await terminal.ended).stdout
      }),
    )
    expect(answers).toEqual(['"Ann"', '"Anna"', '""'])
  })
})

test('the up arrow goes back if another question comes before, and the help states this', async () => {
  const terminal = await askScenario('back')
  await terminal.until('? Phone')
  await terminal.until('With +. Up arrow: back.')
  terminal.type(keys.up)
  await terminal.until('Phone (back)')
  expect(await terminal.ended).toEqual({ code: 0, stdout: '"went back"' })
})

test('a secret is never printed, even if its check fails', async () => {
  const terminal = await askScenario('secret')
  await terminal.until('? API key')
  terminal.type('hunter')
  await terminal.until('******')
  terminal.type(keys.enter)
  await terminal.until('> has 6 characters, not 8')
  terminal.type('22')
  await terminal.until('********')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '"hunter22"' })
  expect(terminal.raw()).not.toMatch(/hunter|unter2/)
})

test('a letter does not move the selection, because it may have been typed for the previous question', async () => {
  const terminal = await askScenario('select')
  await terminal.until('Police check')
  terminal.type('s')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '{"id":1}' })
})

test('a choice that is wider than the terminal is broken between two words; a note states that more choices exist', async () => {
  const terminal = await askScenario('long choices')
  await terminal.until('Answer 10')
  const screen = stripVTControlCharacters(terminal.raw()).replaceAll('\r', '')
  expect(screen).toMatch(/suburb: Fitzroy;\s*\n {4}country: Australia\)/)
  expect(screen).toContain('14 choices, not all are shown')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '0' })
})

test('the arrow keys move the selection, and the selected choice shows its detail', async () => {
  const terminal = await askScenario('select')
  await terminal.until('Police check')
  terminal.type(keys.down)
  await terminal.until('References')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '{"id":2}' })
  expect(stripVTControlCharacters(terminal.raw())).toContain('Package Second')
})

test('a typed id selects the choice with that id, not the choice at that position', async () => {
  const terminal = await askScenario('narrowed')
  await terminal.until('Package (110)')
  terminal.type('102')
  await terminal.until('Which package? 102')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '102' })
})

test('Enter alone answers no, unless the initial answer of the question is yes', async () => {
  const answerQuestion = async (scenario: string, message: string, typed: string) => {
    const terminal = await askScenario(scenario)
    await terminal.until(message)
    terminal.type(typed)
    if (typed !== keys.enter) {
      await terminal.until(`) ${typed}`)
      terminal.type(keys.enter)
    }
    return (await terminal.ended).stdout
  }
  expect(
    await Promise.all([
      answerQuestion('confirm', '? Add another? (y/N)', keys.enter),
      answerQuestion('confirm', '? Add another? (y/N)', 'y'),
      answerQuestion('confirmYes', '? Go on? (Y/n)', keys.enter),
      answerQuestion('confirmYes', '? Go on? (Y/n)', 'n'),
    ]),
  ).toEqual(['false', 'true', 'true', 'false'])
})

test('text that is typed before a destructive question is shown does not answer it', async () => {
  const terminal = await askScenario('destructive')
  await terminal.until('waiting ')
  terminal.type(`y${keys.enter}y${keys.enter}y`)
  await terminal.until(/y\s+y\s+y/)
  terminal.resize(100)
  await terminal.until('? Order? (y/N)')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: 'false' })
})

test('questions follow each other on one terminal', async () => {
  const terminal = await askScenario('several')
  await terminal.until('? One')
  terminal.type('a')
  await terminal.until('? One a')
  terminal.type(keys.enter)
  await terminal.until('? Two (y/N)')
  terminal.type(keys.enter)
  await terminal.until('? Three')
  await terminal.until('select')
  terminal.type(keys.enter)
  await terminal.until('? Four')
  terminal.type('s')
  await terminal.until('*')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '["a",false,"x","s"]' })
})

describe('leaving a prompt', () => {
  test.each([
    ['Ctrl-C at a text', 'text', 'With + and', keys.ctrlC],
    ['Ctrl-D at a text', 'text', 'With + and', keys.ctrlD],
    ['Ctrl-C at a secret', 'secret', '? API key', keys.ctrlC],
    ['Ctrl-D at a secret', 'secret', '? API key', keys.ctrlD],
    ['Ctrl-C at a choice', 'select', 'Police check', keys.ctrlC],
    ['Ctrl-D at a choice', 'select', 'Police check', keys.ctrlD],
    ['Ctrl-C at yes or no', 'confirm', '(y/N)', keys.ctrlC],
    ['Ctrl-D at yes or no', 'confirm', '(y/N)', keys.ctrlD],
    ['an abort signal', 'stopped', '? Name', 'x'],
  ])('%s interrupts the prompt', async (_name, scenario, shownText, typed) => {
    const terminal = await askScenario(scenario)
    await terminal.until(shownText)
    terminal.type(typed)
    expect(await terminal.ended).toEqual({ code: 0, stdout: 'interrupted: cancelled; nothing was done' })
    expect(listSequences(terminal.raw()).at(-1)).toMatch(showCursorSequence)
  })

  test('Ctrl-D within a line deletes a character and does not end the prompt', async () => {
    const terminal = await askScenario('edit')
    await terminal.until('? Name Ann')
    terminal.type(`\u0001${keys.ctrlD}`)
    await terminal.until('? Name nn')
    terminal.type(keys.enter)
    expect(await terminal.ended).toEqual({ code: 0, stdout: '"nn"' })
  })
})

describe('text from the service', () => {
  const sanitizedText = '\uFFFDtxt\uFFFD line'

  test('is shown without its escape sequences, bidi overrides and line breaks', async () => {
    const terminal = await askScenario('hostile')
    await terminal.until(`? ${sanitizedText} ${sanitizedText}`)
    await terminal.until(`> ${sanitizedText}`)
    terminal.type(keys.ctrlC)
    await terminal.ended
    expect(terminal.raw()).not.toMatch(/owned|\p{Bidi_Control}/u)
    expect(listSequences(terminal.raw()).some((sequence) => sequence.startsWith('[2J'))).toBe(false)
  })

  test('in a choice is also shown without escape sequences and bidi overrides', async () => {
    const terminal = await askScenario('hostileChoice')
    await terminal.until(`? ${sanitizedText}`)
    await terminal.until(sanitizedText)
    await terminal.until(sanitizedText)
    terminal.type(keys.enter)
    expect(await terminal.ended).toEqual({ code: 0, stdout: '1' })
    expect(terminal.raw()).not.toMatch(/owned|\p{Bidi_Control}/u)
    expect(listSequences(terminal.raw()).some((sequence) => sequence.startsWith('[2J'))).toBe(false)
  })
})

test.each(['text', 'secret', 'select', 'confirm'])(
  '%s is coloured only with color: true',
  async (scenario) => {
    const readOutput = async (color: string): Promise<string> => {
      const terminal = await askScenario(scenario, color)
      await terminal.until('?')
      terminal.type(keys.ctrlC)
      await terminal.ended
      return terminal.raw()
    }
    const [plain, coloured] = await Promise.all([readOutput('plain'), readOutput('color')])
    const hasColours = (raw: string) =>
      listSequences(raw).some((sequence) => /^\[\d+(?:;\d+)*m/.test(sequence))
    expect([hasColours(plain), hasColours(coloured)]).toEqual([false, true])
  },
)

test.each([
  ['stdin', false, true],
  ['stderr', true, false],
])(
  'if %s is not a terminal, nothing is drawn, and the error names the question',
  async (_name, input, output) => {
    const drawn: string[] = []
    const prompter = new TerminalPrompter({
      input: { isTTY: input, stream: Readable.from([]) },
      output: { write: (data) => void drawn.push(data), isTTY: output, columns: 80 },
      color: false,
    })
    const expectedError = {
      code: 'usage',
      message: '"Phone" needs an answer, and there is no terminal to ask on',
      hint: 'Give the answer as a flag; list the flags with --help.',
    }
    await expect(prompter.text({ message: 'Phone' })).rejects.toMatchObject(expectedError)
    await expect(prompter.secret({ message: 'Phone' })).rejects.toMatchObject(expectedError)
    await expect(prompter.confirm({ message: 'Phone' })).rejects.toMatchObject(expectedError)
    await expect(
      prompter.select({ message: 'Phone', choices: [{ value: 1, label: 'x' }] }),
    ).rejects.toMatchObject(expectedError)
    expect(drawn).toEqual([])
  },
)
