import fc from 'fast-check'

/** What breaks readers that were written for people's files. */
const hostile = [
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
  cut: number
  put: string
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(10_000),
  cut: fc.oneof(fc.constant(0), fc.nat(12)),
  put: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...hostile) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    { weight: 1, arbitrary: fc.constant('') },
  ),
})

/** Inputs that are nearly right, with up to six changes each, and now and then anything at all. */
export function nearly(examples: readonly string[]): fc.Arbitrary<string> {
  const changed = fc
    .tuple(fc.constantFrom(...examples), fc.array(change, { minLength: 0, maxLength: 6 }))
    .map(([example, changes]) =>
      changes.reduce((text, { at, cut, put }) => {
        const start = at % (text.length + 1)
        return text.slice(0, start) + put + text.slice(start + cut)
      }, example),
    )
  return fc.oneof(
    { weight: 8, arbitrary: changed },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  )
}
