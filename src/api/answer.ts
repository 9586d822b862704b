import type { z } from 'zod'

import { type Envelope, envelope } from '../contract/envelope.ts'
import { formatIssues } from '../contract/issue-words.ts'
import { hasMoreValues } from '../contract/parse-json.ts'
import { parseRetryAfter, type RetryAfter } from '../contract/headers.ts'
import {
  type RefcheckError,
  ForbiddenError,
  InvalidInputError,
  NotFoundError,
  ThrottledError,
  UnauthenticatedError,
  UnavailableError,
} from '../errors/kinds.ts'
import type { HttpHeaders } from '../http/types.ts'

/** Returns a header's value; the first one if it was repeated. */
export function header(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** Returns the wait that a 429 states. */
export function readRetryAfter(answer: { headers: HttpHeaders }): RetryAfter {
  return parseRetryAfter(header(answer.headers, 'retry-after'))
}

/** Maximum number of values in one response, which is that of about 25,000 users or packages. */
const maxValues = 250_000

/** Whether a body would need too much memory to parse and check. */
export function isTooLarge({ body }: { body: Uint8Array }): boolean {
  return hasMoreValues(body, maxValues)
}

export function tooLargeError(status: number): UnavailableError {
  return new UnavailableError(`the answer holds more than ${maxValues} values, the limit`, {
    status,
    hint: 'Check the base URL: something other than the service may have answered.',
  })
}

/** Returns the envelope of a parsed response; undefined if it is not an envelope. */
export function parseEnvelope(answer: unknown): Envelope | undefined {
  const parsed = envelope.safeParse(answer)
  return parsed.success ? parsed.data : undefined
}

/**
 * Returns `data` in its documented shape. Throws an UnavailableError whose `field` is the path of the first invalid
 * value.
 */
export function parseData<T extends z.ZodType>(shape: T, data: unknown): z.output<T> {
  const invalid = findListIssue(shape, data)
  const parsed = invalid === undefined ? safeParse(shape, data) : undefined
  if (parsed?.success === true) return parsed.data
  const issue = invalid ?? parsed?.error.issues[0]
  const path = ['data', ...(issue?.path ?? [])].map(String).join('.')
  throw new UnavailableError(
    `the service’s answer does not have the documented shape: ${path}: ${issue?.message ?? 'is not valid'}`,
    {
      field: path,
      status: 200,
      hint: 'Check the base URL: something other than the service may have answered, or a newer version of it.',
    },
  )
}

const chunkLength = 1000

/**
 * Returns the first issue in long lists, which are checked in chunks: zod would collect the issues of all items,
 * which take far more memory than the list.
 */
function findListIssue(shape: z.ZodType, data: unknown): z.core.$ZodIssue | undefined {
  const lists = Object.entries(data ?? {}).filter(
    ([, value]) => Array.isArray(value) && value.length > chunkLength,
  )
  const withoutLists = { ...(data as object), ...Object.fromEntries(lists.map(([name]) => [name, []])) }
  for (const [name, list] of lists as [string, unknown[]][]) {
    for (let start = 0; start < list.length; start += chunkLength) {
      const chunk = { ...withoutLists, [name]: list.slice(start, start + chunkLength) }
      const issue = safeParse(shape, chunk)?.error?.issues[0]
      if (issue === undefined) continue
      const path = issue.path.map((each, index) =>
        index === 1 && issue.path[0] === name ? start + Number(each) : each,
      )
      return { ...issue, path }
    }
  }
  return undefined
}

/**
 * Parses data. Undefined if there are too many issues: zod spreads the issues of all items of a list, which overflows
 * the stack.
 */
function safeParse<T extends z.ZodType>(
  shape: T,
  data: unknown,
): z.ZodSafeParseResult<z.output<T>> | undefined {
  try {
    return shape.safeParse(data, formatIssues)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * "A read is believed only when it answers what was asked" (src/docs/ordering.md, section 2): throws an
 * UnavailableError for a response about another resource, which a cache or proxy may have mixed up. UUIDs are
 * compared without case.
 */
export function requireAbout(
  what: 'request' | 'package',
  expectedId: string | number,
  actualId: string | number,
): void {
  if (String(expectedId).toLowerCase() === String(actualId).toLowerCase()) return
  throw new UnavailableError(`the answer is about another ${what}, not about ${what} ${expectedId}`, {
    status: 200,
    hint: 'None of it was used. A cache or proxy between here and the service may mix up answers: check the base URL and the proxy, then try again.',
  })
}

/** Hints for statuses where an endpoint needs other hints than the status matrix has. */
export type StatusHints = Readonly<Partial<Record<401 | 404, string>>> & {
  /** The requested resource as a message names it, such as "request 3f2b8c1e". */
  readonly subject?: string | undefined
  /** The message for a 401 of a call without a key. */
  readonly refusedMessage?: string | undefined
}

/** The parts of a failed response that determine the error. */
interface FailedAnswer {
  status: number
  /** Undefined if the body was not the documented envelope. */
  envelope: Envelope | undefined
  /** The wait in seconds that a 429 states. */
  retryAfter?: number | undefined
  hints?: StatusHints | undefined
}

const proxyHint = 'Check the base URL: something between this machine and the service may have answered.'

/** Returns the typed error for a response, by the status matrix of the API document ("Errors"). */
export function responseError({
  status,
  envelope: receivedEnvelope,
  retryAfter,
  hints = {},
}: FailedAnswer): RefcheckError {
  const message = receivedEnvelope?.message.trim() ?? ''
  const messageOr = (fallback: string): string => (message === '' ? fallback : message)
  if (status === 429) {
    return new ThrottledError(messageOr('the quota is used up'), {
      status,
      retryAfter,
      hint: `Wait${retryAfter === undefined ? '' : ` ${retryAfter} s`} and run it again.`,
    })
  }
  if (status < 400 || status >= 500) return unexpectedStatusError(status, message)
  if (receivedEnvelope === undefined) {
    return new UnavailableError(`the answer (${status}) does not come from the service: it has no envelope`, {
      status,
      hint: proxyHint,
    })
  }
  switch (status) {
    case 400:
    case 422:
      return new InvalidInputError(messageOr('the service refused the request as invalid'), {
        status,
        field: fieldOfMessage(message),
        hint: 'Nothing was done. Correct it and run it again.',
      })
    case 401:
      return new UnauthenticatedError(hints.refusedMessage ?? messageOr('the API key was refused'), {
        status,
        hint:
          hints[401] ??
          'A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login',
      })
    case 403:
      return new ForbiddenError(messageOr('the service does not allow this'), {
        status,
        hint: forbiddenHints[forbiddenCause(message)],
      })
    case 404:
      return new NotFoundError(
        hints.subject === undefined ? messageOr('not found') : `${hints.subject} was not found`,
        {
          status,
          hint:
            hints[404] ?? 'Check the id. It may belong to another organisation, or be hidden from this user.',
        },
      )
    default:
      return unexpectedStatusError(status, message)
  }
}

/** Returns the `<field path>` of a 400's `<field path>: <reason>`; undefined if the message has another form. */
export function fieldOfMessage(message: string): string | undefined {
  const end = message.indexOf(': ')
  if (end <= 0 || end > 200) return undefined
  const path = message.slice(0, end)
  return /^[\w.[\]-]+$/.test(path) ? path : undefined
}

type ForbiddenCause = 'credits' | 'trial' | 'subscription' | 'role' | 'package' | 'membership' | 'unknown'

const causes: readonly [ForbiddenCause, RegExp][] = [
  ['credits', /\bcredits?\b/i],
  ['trial', /\btrial\b/i],
  ['subscription', /\bsubscri/i],
  ['role', /\broles?\b/i],
  ['package', /\bpackages?\b/i],
  ['membership', /\bmember|\bactive user\b/i],
  ['role', /\bpermi|\ballow/i],
]

const forbiddenHints: Readonly<Record<ForbiddenCause, string>> = {
  credits: 'Nothing was ordered. The organisation has to buy credits.',
  trial: 'Nothing was ordered. The organisation’s trial is over; an Owner can subscribe.',
  subscription: 'Nothing was ordered. An Owner of the organisation has to renew the subscription.',
  role: 'This user’s role does not allow it: use another user’s e-mail, or ask an Owner.',
  package: 'List the packages that this user may use with: refcheck packages list',
  membership:
    'The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list',
  unknown: 'Check that the user e-mail belongs to an active user, and the organisation’s plan and credits.',
}

/**
 * Returns the cause of a 403. One status has six causes, and only the message distinguishes them ("Errors", message
 * texts).
 */
export function forbiddenCause(message: string): ForbiddenCause {
  return causes.find(([, words]) => words.test(message))?.[0] ?? 'unknown'
}

function unexpectedStatusError(status: number, message: string): RefcheckError {
  if (status >= 500) {
    return new UnavailableError(`the service failed (${status})${message === '' ? '' : `: ${message}`}`, {
      status,
      hint: 'Try again in a moment. Check whether the service is up with: refcheck ping',
    })
  }
  if (status >= 300 && status < 400) {
    return new UnavailableError(
      `the service answered with a redirect (${status}); redirects are not followed`,
      {
        status,
        hint: 'Set the base URL to the service’s own address.',
      },
    )
  }
  return new UnavailableError(`the service answered ${status}, which is not in the API document`, {
    status,
    hint: proxyHint,
  })
}
