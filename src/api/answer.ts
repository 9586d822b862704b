import type { z } from 'zod'

import { type Envelope, envelope } from '../contract/envelope.ts'
import { issueInWords } from '../contract/issue-words.ts'
import { parseRetryAfter, type RetryAfter } from '../contract/retry-after.ts'
import { UnavailableError } from '../errors/kinds.ts'
import type { HttpHeaders } from '../http/types.ts'
import { hasMoreValues } from '../contract/parse-json.ts'

/** A header's only value; the first where it came more than once. */
export function header(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** How long a 429 asks to wait. */
export function retryAfter(answer: { headers: HttpHeaders }): RetryAfter {
  return parseRetryAfter(header(answer.headers, 'retry-after'))
}

/** Of one answer: about 25,000 users or packages. */
const maxValues = 250_000

/** Whether a body would take too much memory to parse and check. */
export function isTooLarge({ body }: { body: Uint8Array }): boolean {
  return hasMoreValues(body, maxValues)
}

export function tooLarge(status: number): UnavailableError {
  return new UnavailableError(`the answer holds more than ${maxValues} values, the limit`, {
    status,
    hint: 'Check the base URL: something other than the service may have answered.',
  })
}

/** The envelope of a parsed answer, or undefined where it is anything else. */
export function parseEnvelope(answer: unknown): Envelope | undefined {
  const parsed = envelope.safeParse(answer)
  return parsed.success ? parsed.data : undefined
}

/** `data` in its documented shape, or an UnavailableError whose `field` is the path of the first thing that is not. */
export function parseData<T extends z.ZodType>(shape: T, data: unknown): z.output<T> {
  const invalid = invalidList(shape, data)
  const parsed = invalid === undefined ? safeParse(shape, data) : undefined
  if (parsed?.success === true) return parsed.data
  const issue = invalid ?? parsed?.error.issues[0]
  const path = ['data', ...(issue?.path ?? [])].map(String).join('.')
  throw new UnavailableError(
    `the service’s answer does not have the documented shape: ${path}: ${issueInWords(issue)}`,
    {
      field: path,
      status: 200,
      hint: 'Check the base URL: something other than the service may have answered, or a newer version of it.',
    },
  )
}

const pieceLength = 1000

/** The first issue of a long list: zod would collect those of all its items, which take far more memory than the list. */
function invalidList(shape: z.ZodType, data: unknown): z.core.$ZodIssue | undefined {
  const lists = Object.entries(data ?? {}).filter(
    ([, value]) => Array.isArray(value) && value.length > pieceLength,
  )
  const withoutLists = { ...(data as object), ...Object.fromEntries(lists.map(([name]) => [name, []])) }
  for (const [name, list] of lists as [string, unknown[]][]) {
    for (let start = 0; start < list.length; start += pieceLength) {
      const piece = { ...withoutLists, [name]: list.slice(start, start + pieceLength) }
      const issue = safeParse(shape, piece)?.error?.issues[0]
      if (issue === undefined) continue
      const path = issue.path.map((each, at) =>
        at === 1 && issue.path[0] === name ? start + Number(each) : each,
      )
      return { ...issue, path }
    }
  }
  return undefined
}

/** Undefined where the issues are too many: zod spreads those of all items of a list, which overflows the stack. */
function safeParse<T extends z.ZodType>(
  shape: T,
  data: unknown,
): z.ZodSafeParseResult<z.output<T>> | undefined {
  try {
    return shape.safeParse(data)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * "A read is believed only when it answers what was asked" (ordering protocol): throws an UnavailableError for an
 * answer about another resource, as a cache or proxy that mixes up answers gives it. UUIDs are compared without case.
 */
export function requireAbout(
  what: 'request' | 'package',
  asked: string | number,
  answered: string | number,
): void {
  if (String(asked).toLowerCase() === String(answered).toLowerCase()) return
  throw new UnavailableError(`the answer is about another ${what}, not about ${what} ${asked}`, {
    status: 200,
    hint: 'None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.',
  })
}
