import type { z } from 'zod'

/** What zod expects, as a person who writes JSON or YAML calls it. */
const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'an object',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
}

const kind = (name: string): string => kinds[name] ?? name

function kindOf(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return kind(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
}

const formats: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  guid: 'must be a UUID',
  uuid: 'must be a UUID',
  url: 'must be a URL',
}

/** What a limit counts, by the kind of value: `at most 16 characters`. */
const units: Readonly<Record<string, string>> = { string: ' characters', array: ' items' }

/** For safeParse: messages that can follow the path of a value, such as `must be one of: before, after`. */
export const formatIssues = {
  /** Undefined where zod's own message stays. */
  error(issue: z.core.$ZodRawIssue): string | undefined {
    if (issue.code === 'invalid_type') {
      if (issue.input === undefined) return `is missing; it must be ${kind(issue.expected)}`
      return `must be ${kind(issue.expected)}, not ${kindOf(issue.input)}`
    }
    if (issue.code === 'invalid_value') {
      if (issue.values.length === 1) return `must be ${JSON.stringify(issue.values[0])}`
      return `must be one of: ${issue.values.join(', ')}`
    }
    if (issue.code === 'invalid_union') {
      return Array.isArray(issue.options) ? `must be one of: ${issue.options.join(', ')}` : 'is not valid'
    }
    if (issue.code === 'invalid_format') return formats[issue.format] ?? 'is not valid'
    if (issue.code === 'too_big')
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${units[issue.origin] ?? ''}`
    if (issue.code === 'too_small') {
      if (units[issue.origin] !== undefined && issue.minimum === 1) return 'must not be empty'
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${units[issue.origin] ?? ''}`
    }
    if (issue.code !== 'unrecognized_keys') return undefined
    const names = issue.keys.map((each) => JSON.stringify(each)).join(', ')
    return `has the unknown ${issue.keys.length === 1 ? 'key' : 'keys'} ${names}`
  },
}
