import type { Envelope } from '../contract/envelope.ts'
import type { ErrorDetails, RefcheckError } from '../errors/base.ts'
import { ForbiddenError } from '../errors/forbidden.ts'
import { InvalidInputError } from '../errors/invalid-input.ts'
import { NotFoundError } from '../errors/not-found.ts'
import { ThrottledError } from '../errors/throttled.ts'
import { UnauthenticatedError } from '../errors/unauthenticated.ts'
import { UnavailableError } from '../errors/unavailable.ts'

/** An answer that is not the documented success, reduced to what decides the error. */
export interface FailedAnswer {
  status: number
  /** Undefined where the body was not the documented envelope. */
  envelope: Envelope | undefined
  /** Seconds, for a 429. */
  retryAfter?: number | undefined
}

const proxyHint = 'Something between here and the service may have answered in its place; check the base URL.'

/** The typed error for an answer, by the status matrix of the document ("Errors"). */
export function failure({ status, envelope, retryAfter }: FailedAnswer): RefcheckError {
  const said = envelope?.message.trim() ?? ''
  if (envelope === undefined && status < 500 && status !== 429) {
    return new UnavailableError(`the answer (${status}) is not the service's: no envelope`, {
      status,
      hint: proxyHint,
    })
  }
  const message = (fallback: string): string => (said === '' ? fallback : said)
  switch (status) {
    case 400:
    case 422:
      return invalid(message('the service refused the request as invalid'), status)
    case 401:
      return new UnauthenticatedError(message('the API key was not accepted'), {
        status,
        hint: 'Log in again with a current key: refcheck auth login. A newer key revokes the one before it.',
      })
    case 403:
      return new ForbiddenError(message('the service does not permit this'), {
        status,
        hint: forbiddenHint(said),
      })
    case 404:
      return new NotFoundError(message('not found'), {
        status,
        hint: 'Check the id; it may belong to another organisation, or not be visible to this user.',
      })
    case 429:
      return new ThrottledError(message('the quota is used up'), {
        status,
        retryAfter,
        hint: `Wait${retryAfter === undefined ? '' : ` ${retryAfter} s`} and run it again.`,
      })
    default:
      return unexpected(status, said)
  }
}

function invalid(message: string, status: number): RefcheckError {
  const details: ErrorDetails = { status, hint: 'Nothing was done. Mend it and run it again.' }
  const field = namedField(message)
  return new InvalidInputError(message, field === undefined ? details : { ...details, field })
}

/** The `<field path>` of a 400's `<field path>: <reason>`; undefined where the message has another shape. */
export function namedField(message: string): string | undefined {
  const end = message.indexOf(': ')
  if (end <= 0 || end > 200) return undefined
  const path = message.slice(0, end)
  return /^[\w.[\]-]+$/.test(path) ? path : undefined
}

/** The 403s have one status and six causes; only the message tells them apart ("Errors", message texts). */
function forbiddenHint(message: string): string {
  const text = message.toLowerCase()
  if (text.includes('credit')) return 'The organisation has to buy credits; nothing was ordered.'
  if (text.includes('trial')) return 'The organisation’s trial is over; an Owner can subscribe.'
  if (text.includes('subscription')) return 'An Owner has to renew the subscription.'
  if (text.includes('role') || text.includes('permit')) {
    return 'This user’s role does not allow it; use another user’s e-mail or ask an Owner.'
  }
  return 'Check the user e-mail: "refcheck users list" shows whose may be used; it must be an active user.'
}

function unexpected(status: number, said: string): RefcheckError {
  if (status >= 500) {
    return new UnavailableError(`the service failed (${status})${said === '' ? '' : `: ${said}`}`, {
      status,
      hint: 'Try again in a moment; "refcheck ping" tells whether the service is up.',
    })
  }
  if (status >= 300 && status < 400) {
    return new UnavailableError(`the service answered with a redirect (${status}), which is never followed`, {
      status,
      hint: 'Set the base URL to where the service really is.',
    })
  }
  return new UnavailableError(`the service answered ${status}, which the API does not use here`, {
    status,
    hint: proxyHint,
  })
}
