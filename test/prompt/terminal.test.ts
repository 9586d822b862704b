import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

import { describe, expect, test } from 'vitest'

import { TerminalPrompter } from '../../src/prompt/terminal.ts'
import { keys, openTerminal, type Terminal } from '../harness/terminal.ts'

const program = fileURLToPath(new URL('ask-in-terminal.ts', import.meta.url))
const ask = (scenario: string, color = 'plain'): Promise<Terminal> => openTerminal([program, scenario, color])

/** The escape sequences of what a terminal was sent, without their escape, each with the text after it. */
function sequencesIn(raw: string): string[] {
  return raw.split('\u001B').slice(1)
}

const cursorShown = /^\[\?25h/

test('a question that is longer than the terminal is wide goes on between two words', async () => {
  const terminal = await ask('long')
  await terminal.until(/Dee Cut in\s+package 102\?/)
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: 'false' })
})

test('a question of wide letters goes on between two words as well', async () => {
  const terminal = await ask('longJapanese')
  await terminal.until('(y/N)')
  terminal.type(keys.enter)
  await terminal.ended
  const drawn = stripVTControlCharacters(terminal.raw())
  expect(drawn).toContain('注文依頼')
  expect(drawn).not.toMatch(/注\s|注文\s|注文依\s/)
})

test('lines above a question keep their layout, go on below with the same indent, and hide nothing', async () => {
  const terminal = await ask('above')
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
  const first = await ask('select')
  await first.until('Package')
  first.type(`${keys.up}${keys.enter}`)
  expect(await first.ended).toEqual({ code: 0, stdout: '{"id":1}' })
  const last = await ask('select')
  await last.until('Package')
  last.type(`${keys.down.repeat(5)}${keys.enter}`)
  expect(await last.ended).toEqual({ code: 0, stdout: '{"id":3}' })
})

describe('a line of text', () => {
  test('shows its help, then the reason while it is typed, then takes it; stdout has the answer alone', async () => {
    const terminal = await ask('text')
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

  test('an answer that will not do is kept in the line after Enter, to be fixed', async () => {
    const terminal = await ask('text')
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

  test('nothing at all is refused with Enter, not before', async () => {
    const terminal = await ask('text')
    await terminal.until('With + and')
    expect(terminal.raw()).not.toContain('has no +')
    terminal.type(keys.enter)
    await terminal.until('> has no + (0 so far)')
    terminal.type(keys.ctrlC)
    await terminal.ended
  })

  test('a reason longer than the terminal is wide breaks between words', async () => {
    const terminal = await openTerminal([program, 'text', 'plain'], 24)
    await terminal.until(/With \+ and the country\s+calling code\./)
    terminal.type('0400 000 000')
    await terminal.until(/> has no \+ \(12 so\s+far\)/)
    terminal.type(keys.ctrlC)
    expect((await terminal.ended).code).toBe(0)
  })

  test('what stands there first can be kept, changed and cleared', async () => {
    const answers = await Promise.all(
      ['', 'a', keys.ctrlU].map(async (typed) => {
        const terminal = await ask('edit')
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

test('the up arrow leads back where there is a question before, and the help says so', async () => {
  const terminal = await ask('back')
  await terminal.until('? Phone')
  await terminal.until('With +. Up arrow: back.')
  terminal.type(keys.up)
  await terminal.until('Phone (back)')
  expect(await terminal.ended).toEqual({ code: 0, stdout: '"went back"' })
})

test('a secret never reaches the screen, whatever its check says', async () => {
  const terminal = await ask('secret')
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

test('a letter moves to no choice: it may have been meant for the question before', async () => {
  const terminal = await ask('select')
  await terminal.until('Police check')
  terminal.type('s')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '{"id":1}' })
})

test('a choice that is longer than the terminal is wide goes on between two words; choices below are announced', async () => {
  const terminal = await ask('long choices')
  await terminal.until('Answer 10')
  const shown = stripVTControlCharacters(terminal.raw()).replaceAll('\r', '')
  expect(shown).toMatch(/suburb: Fitzroy;\s*\n {4}country: Australia\)/)
  expect(shown).toContain('14 choices, not all are shown')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '0' })
})

test('a choice is moved to with the arrows, and shows its detail', async () => {
  const terminal = await ask('select')
  await terminal.until('Police check')
  terminal.type(keys.down)
  await terminal.until('References')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '{"id":2}' })
  expect(stripVTControlCharacters(terminal.raw())).toContain('Package Second')
})

test('an id that is typed at a choice is the one chosen, not a place in the list', async () => {
  const terminal = await ask('narrowed')
  await terminal.until('Package (110)')
  terminal.type('102')
  await terminal.until('Which package? 102')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: '102' })
})

test('yes or no: Enter alone means no unless the question asks for yes', async () => {
  const outcome = async (scenario: string, message: string, typed: string) => {
    const terminal = await ask(scenario)
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
      outcome('confirm', '? Add another? (y/N)', keys.enter),
      outcome('confirm', '? Add another? (y/N)', 'y'),
      outcome('confirmYes', '? Go on? (Y/n)', keys.enter),
      outcome('confirmYes', '? Go on? (Y/n)', 'n'),
    ]),
  ).toEqual(['false', 'true', 'true', 'false'])
})

test('what was typed before a question of consequence was shown does not answer it', async () => {
  const terminal = await ask('grave')
  await terminal.until('waiting ')
  terminal.type(`y${keys.enter}y${keys.enter}y`)
  await terminal.until(/y\s+y\s+y/)
  terminal.resize(100)
  await terminal.until('? Order? (y/N)')
  terminal.type(keys.enter)
  expect(await terminal.ended).toEqual({ code: 0, stdout: 'false' })
})

test('questions follow each other on one terminal', async () => {
  const terminal = await ask('several')
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

describe('leaving', () => {
  test.each([
    ['Ctrl-C at a text', 'text', 'With + and', keys.ctrlC],
    ['Ctrl-D at a text', 'text', 'With + and', keys.ctrlD],
    ['Ctrl-C at a secret', 'secret', '? API key', keys.ctrlC],
    ['Ctrl-D at a secret', 'secret', '? API key', keys.ctrlD],
    ['Ctrl-C at a choice', 'select', 'Police check', keys.ctrlC],
    ['Ctrl-D at a choice', 'select', 'Police check', keys.ctrlD],
    ['Ctrl-C at yes or no', 'confirm', '(y/N)', keys.ctrlC],
    ['Ctrl-D at yes or no', 'confirm', '(y/N)', keys.ctrlD],
    ['the signal', 'stopped', '? Name', 'x'],
  ])('%s is an interruption', async (_name, scenario, shown, typed) => {
    const terminal = await ask(scenario)
    await terminal.until(shown)
    terminal.type(typed)
    expect(await terminal.ended).toEqual({ code: 0, stdout: 'interrupted: cancelled; nothing was done' })
    expect(sequencesIn(terminal.raw()).at(-1)).toMatch(cursorShown)
  })

  test('Ctrl-D within a line deletes, and ends nothing', async () => {
    const terminal = await ask('edit')
    await terminal.until('? Name Ann')
    terminal.type(`\u0001${keys.ctrlD}`)
    await terminal.until('? Name nn')
    terminal.type(keys.enter)
    expect(await terminal.ended).toEqual({ code: 0, stdout: '"nn"' })
  })
})

describe('text from the service', () => {
  const harmlessly = '\uFFFDtxt\uFFFD line'

  test('is shown without its escapes, overrides and line breaks', async () => {
    const terminal = await ask('hostile')
    await terminal.until(`? ${harmlessly} ${harmlessly}`)
    await terminal.until(`> ${harmlessly}`)
    terminal.type(keys.ctrlC)
    await terminal.ended
    expect(terminal.raw()).not.toMatch(/owned|\p{Bidi_Control}/u)
    expect(sequencesIn(terminal.raw()).some((sequence) => sequence.startsWith('[2J'))).toBe(false)
  })

  test('is as harmless in a choice', async () => {
    const terminal = await ask('hostileChoice')
    await terminal.until(`? ${harmlessly}`)
    await terminal.until(harmlessly)
    await terminal.until(harmlessly)
    terminal.type(keys.enter)
    expect(await terminal.ended).toEqual({ code: 0, stdout: '1' })
    expect(terminal.raw()).not.toMatch(/owned|\p{Bidi_Control}/u)
    expect(sequencesIn(terminal.raw()).some((sequence) => sequence.startsWith('[2J'))).toBe(false)
  })
})

test.each(['text', 'secret', 'select', 'confirm'])('%s is coloured only when told', async (scenario) => {
  const drawn = async (color: string): Promise<string> => {
    const terminal = await ask(scenario, color)
    await terminal.until('?')
    terminal.type(keys.ctrlC)
    await terminal.ended
    return terminal.raw()
  }
  const [plain, coloured] = await Promise.all([drawn('plain'), drawn('color')])
  const colours = (raw: string) => sequencesIn(raw).some((sequence) => /^\[\d+(?:;\d+)*m/.test(sequence))
  expect([colours(plain), colours(coloured)]).toEqual([false, true])
})

test.each([
  ['stdin', false, true],
  ['stderr', true, false],
])('where %s is no terminal nothing is drawn, and the question is named', async (_name, input, output) => {
  const drawn: string[] = []
  const prompter = new TerminalPrompter({
    input: { isTTY: input, stream: Readable.from([]) },
    output: { write: (data) => void drawn.push(data), isTTY: output, columns: 80 },
    color: false,
  })
  const refused = {
    code: 'usage',
    message: '"Phone" needs an answer, and there is no terminal to ask on',
    hint: 'Give the answer as a flag; list the flags with --help.',
  }
  await expect(prompter.text({ message: 'Phone' })).rejects.toMatchObject(refused)
  await expect(prompter.secret({ message: 'Phone' })).rejects.toMatchObject(refused)
  await expect(prompter.confirm({ message: 'Phone' })).rejects.toMatchObject(refused)
  await expect(
    prompter.select({ message: 'Phone', choices: [{ value: 1, label: 'x' }] }),
  ).rejects.toMatchObject(refused)
  expect(drawn).toEqual([])
})
