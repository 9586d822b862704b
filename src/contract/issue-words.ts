/** What zod expects, as a person who writes JSON or YAML calls it. */
const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

const kind = (name = ''): string => kinds[name] ?? name

const sentences: readonly [pattern: RegExp, say: (...parts: string[]) => string][] = [
  [
    /^Invalid input: expected (\w+), received undefined$/,
    (expected) => `is missing; it must be ${kind(expected)}`,
  ],
  [
    /^Invalid input: expected (\w+), received (\w+)$/,
    (expected, received) => `must be ${kind(expected)}, not ${kind(received)}`,
  ],
  [/^Invalid input: expected (".*")$/, (expected) => `must be ${expected}`],
  [
    /^Invalid (?:option: expected one of|discriminator value\. Expected) (.*)$/,
    (options = '') =>
      `must be one of: ${options
        .split(/ ?\| ?/)
        .map((each) => each.slice(1, -1))
        .join(', ')}`,
  ],
  [/^Invalid input$/, () => 'is not valid'],
  [/^Unrecognized (keys?): (.*)$/, (keys, names) => `has the unknown ${keys} ${names}`],
]

/** zod's word on a value, as what stands after its place: `must be one of: before, after`. */
export function issueInWords(issue: { message: string } | undefined): string {
  const { message } = issue ?? { message: 'Invalid input' }
  for (const [pattern, say] of sentences) {
    const found = pattern.exec(message)
    if (found !== null) return say(...found.slice(1))
  }
  return message
}
