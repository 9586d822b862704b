import { expect, test } from 'vitest'

import { InterruptedError, InvalidInputError } from '../../src/errors/kinds.ts'
import { failureText } from '../../src/output/present.ts'
import { wrapLines } from '../../src/output/terminal.ts'

const hint =
  'To order cancelled rows after all, write them to a file and run that: refcheck batch export c663dfc8-cd71-4cc9-978b-98fb91664f32 --state cancelled --output again.csv'

test('on a terminal a line is wrapped between words, and a wrapped command can be pasted', () => {
  expect(wrapLines(hint, 80)).toBe(
    [
      'To order cancelled rows after all, write them to a file and run that:',
      '  refcheck batch export c663dfc8-cd71-4cc9-978b-98fb91664f32 --state cancelled \\',
      '    --output again.csv',
    ].join('\n'),
  )
})

test('a quoted word is not split, and a flag is not separated from its value', () => {
  expect(
    wrapLines(
      "Save it: refcheck batch validate people.csv --map 'Given name=first_name' --save-mapping hr",
      50,
    ),
  ).toBe(
    [
      'Save it:',
      '  refcheck batch validate people.csv \\',
      "    --map 'Given name=first_name' \\",
      '    --save-mapping hr',
    ].join('\n'),
  )
})

test('flags after a colon are wrapped like a command, and flags within a sentence like words', () => {
  expect(
    wrapLines("If this is what they mean, add: --map 'Given name=first_name' --map Mail=email", 45),
  ).toBe(
    ['If this is what they mean, add:', "  --map 'Given name=first_name' \\", '    --map Mail=email'].join(
      '\n',
    ),
  )
  expect(wrapLines("Name an existing one, for example with: --map 'Your column=email'", 40)).toBe(
    "Name an existing one, for example with:\n  --map 'Your column=email'",
  )
  expect(wrapLines('Error: --row is required by --drop', 20)).toBe('Error: --row is\nrequired by --drop')
})

test('a wrapped command on a separate line can be pasted', () => {
  expect(wrapLines('The same order as one command:\n  refcheck request create --package 102 --yes', 40)).toBe(
    ['The same order as one command:', '  refcheck request create \\', '    --package 102 --yes'].join('\n'),
  )
})

test('a line that fits is not wrapped, and no line is wrapped for a pipe', () => {
  expect(wrapLines(hint, undefined)).toBe(hint)
  expect(wrapLines('Resume with: refcheck batch resume 3f2b8c1e', 80)).toBe(
    'Resume with: refcheck batch resume 3f2b8c1e',
  )
})

test('a wrapped item of a list continues with an indent', () => {
  expect(wrapLines('  --phone: "0412" has no +; start it with + and the country code', 40)).toBe(
    ['  --phone: "0412" has no +; start it', '    with + and the country code'].join('\n'),
  )
})

const plainTerminal = { columns: undefined, color: false }

test('several problems are printed as a list, and an interruption is not called an error', () => {
  const problem = (text: string) => ({ field: 'x', problem: text, text })
  const problems = [problem('--email is required'), problem('--phone is required')]
  expect(
    failureText(new InvalidInputError('2 problems: …', { problems, hint: 'Add them.' }), plainTerminal),
  ).toBe('Error: 2 problems\n  --email is required\n  --phone is required\nAdd them.\n')
  expect(failureText(new InterruptedError('cancelled; nothing was ordered'), plainTerminal)).toBe(
    'Cancelled; nothing was ordered\n',
  )
})
