import fc from 'fast-check'

/** Texts on which parsers of ordinary files often fail. */
const hostileTexts = [
  '\u0000',
  '\uFEFF',
  '\uD800',
  '\u202E',
  '\u001B]52;c;x\u0007',
  '\r',
  '\n',
  '\r\n\r\n',
  '"',
  "'",
  '\\',
  '{',
  '}',
  '[',
  ']',
  '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[',
  ',',
  ':',
  ';',
  '%',
  '%00',
  '%FF',
  '../',
  '//',
  '@',
  '=',
  '-1',
  '1e999',
  '99999999999999999999',
  '0x10',
  'NaN',
  'null',
  '__proto__',
  'constructor',
  '{}',
  '<!--',
  ']]>',
  '&lol;',
  '&a [*a]',
  '*b',
  '<<: ',
  'é',
  '𝟙',
  '١',
  'x'.repeat(5000),
]

interface Change {
  at: number
  removedLength: number
  inserted: string
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(10_000),
  removedLength: fc.oneof(fc.constant(0), fc.nat(12)),
  inserted: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...hostileTexts) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    { weight: 1, arbitrary: fc.constant('') },
  ),
})

/** Returns inputs that are examples with up to six changes each; one in nine is a random text. */
export function almostValid(examples: readonly string[]): fc.Arbitrary<string> {
  const changed = fc
    .tuple(fc.constantFrom(...examples), fc.array(change, { minLength: 0, maxLength: 6 }))
    .map(([example, changes]) =>
      changes.reduce((text, { at, removedLength, inserted }) => {
        const start = at % (text.length + 1)
        return text.slice(0, start) + inserted + text.slice(start + removedLength)
      }, example),
    )
  return fc.oneof(
    { weight: 8, arbitrary: changed },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  )
}
