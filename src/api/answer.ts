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

/** A header's only value; the first where it came more than once. */
export function header(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** How long a 429 asks to wait. */
export function readRetryAfter(answer: { headers: HttpHeaders }): RetryAfter {
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
    `the service’s answer does not have the documented shape: ${path}: ${issue?.message ?? 'is not valid'}`,
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
    return shape.safeParse(data, formatIssues)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * "A read is believed only when it answers what was asked" (src/docs/ordering.md, section 2): throws an UnavailableError for an
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

/** What to do about a status where an endpoint knows better than the matrix. */
export type StatusHints = Readonly<Partial<Record<401 | 404, string>>> & {
  /** What was asked for, as a message names it: "request 3f2b8c1e". */
  readonly subject?: string | undefined
  /** What a 401 means where no key is sent. */
  readonly refused?: string | undefined
}

/** An answer that is not the documented success, reduced to what decides the error. */
interface FailedAnswer {
  status: number
  /** Undefined where the body was not the documented envelope. */
  envelope: Envelope | undefined
  /** Seconds, for a 429. */
  retryAfter?: number | undefined
  hints?: StatusHints | undefined
}

const proxyHint = 'Check the base URL: something between this machine and the service may have answered.'

/** The typed error for an answer, by the status matrix of the document ("Errors"). */
export function failure({ status, envelope: answered, retryAfter, hints = {} }: FailedAnswer): RefcheckError {
  const message = answered?.message.trim() ?? ''
  const messageOr = (fallback: string): string => (message === '' ? fallback : message)
  if (status === 429) {
    return new ThrottledError(messageOr('the quota is used up'), {
      status,
      retryAfter,
      hint: `Wait${retryAfter === undefined ? '' : ` ${retryAfter} s`} and run it again.`,
    })
  }
  if (status < 400 || status >= 500) return unexpected(status, message)
  if (answered === undefined) {
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
        field: namedField(message),
        hint: 'Nothing was done. Correct it and run it again.',
      })
    case 401:
      return new UnauthenticatedError(hints.refused ?? messageOr('the API key was refused'), {
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
      return unexpected(status, message)
  }
}

/** The `<field path>` of a 400's `<field path>: <reason>`; undefined where the message has another shape. */
export function namedField(message: string): string | undefined {
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

/** The 403s have one status and six causes; only the message distinguishes them ("Errors", message texts). */
export function forbiddenCause(message: string): ForbiddenCause {
  return causes.find(([, words]) => words.test(message))?.[0] ?? 'unknown'
}

function unexpected(status: number, message: string): RefcheckError {
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
