import type { z } from 'zod'

import { type Envelope, envelope } from '../contract/envelope.ts'
import { issueInWords } from '../contract/issue-words.ts'
import { parseRetryAfter, type RetryAfter } from '../contract/retry-after.ts'
import { UnavailableError } from '../errors/kinds.ts'
import type { HttpHeaders } from '../http/types.ts'
import { parseJsonBytes } from '../contract/parse-json.ts'

/** A header's only value; the first where it came more than once. */
export function header(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** How long a 429 asks to wait. */
export function retryAfter(answer: { headers: HttpHeaders }): RetryAfter {
  return parseRetryAfter(header(answer.headers, 'retry-after'))
}

/** The envelope of an answer, or undefined where the body is anything else. */
export function parseEnvelope({ body }: { body: Uint8Array }): Envelope | undefined {
  const parsed = envelope.safeParse(parseJsonBytes(body))
  return parsed.success ? parsed.data : undefined
}

/** `data` in its documented shape, or an UnavailableError whose `field` is the path of the first thing that is not. */
export function parseData<T extends z.ZodType>(shape: T, data: unknown): z.output<T> {
  const parsed = shape.safeParse(data)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
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
