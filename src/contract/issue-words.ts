import type { z } from 'zod'

/** Names that zod uses for types, and the words that messages use for them. */
const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

const typeName = (name: string): string => typeNames[name] ?? name

function typeOf(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return typeName(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
}

const formatMessages: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  guid: 'must be a UUID',
  uuid: 'must be a UUID',
  url: 'must be a URL',
}

/** The unit of a limit by the type of the value, as in `at most 16 characters`. */
const limitUnits: Readonly<Record<string, string>> = { string: ' characters', array: ' items' }

/** An option of safeParse. Its messages follow the path of a value, such as `must be one of: before, after`. */
export const formatIssues = {
  /** Returns undefined for issues whose message from zod is used. */
  error(issue: z.core.$ZodRawIssue): string | undefined {
    if (issue.code === 'invalid_type') {
      if (issue.input === undefined) return `is missing; it must be ${typeName(issue.expected)}`
      return `must be ${typeName(issue.expected)}, not ${typeOf(issue.input)}`
    }
    if (issue.code === 'invalid_value') {
      if (issue.values.length === 1) return `must be ${JSON.stringify(issue.values[0])}`
      const values = `must be one of: ${issue.values.join(', ')}`
      return issue.input === undefined ? `is missing; it ${values}` : values
    }
    if (issue.code === 'invalid_union') {
      return Array.isArray(issue.options) ? `must be one of: ${issue.options.join(', ')}` : 'is not valid'
    }
    if (issue.code === 'invalid_format') return formatMessages[issue.format] ?? 'is not valid'
    if (issue.code === 'too_big')
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${limitUnits[issue.origin] ?? ''}`
    if (issue.code === 'too_small') {
      if (limitUnits[issue.origin] !== undefined && issue.minimum === 1) return 'must not be empty'
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${limitUnits[issue.origin] ?? ''}`
    }
    if (issue.code !== 'unrecognized_keys') return undefined
    const names = issue.keys.map((each) => JSON.stringify(each)).join(', ')
    return `has the unknown ${issue.keys.length === 1 ? 'key' : 'keys'} ${names}`
  },
}
