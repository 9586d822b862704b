import { UsageError } from '../../errors/kinds.ts'
import { redactArgument } from '../wording/redact-argument.ts'

/** The maximum number of ids or orders that a hint lists. */
const maxNamed = 5

/** Returns the message for a text with which several ids start, and a hint with these ids. */
export function ambiguousStart(
  kind: 'request' | 'batch',
  start: string,
  candidates: readonly (readonly [id: string, description: string])[],
): [message: string, options: { hint: string }] {
  const many = kind === 'request' ? 'requests' : 'batches'
  return [
    `${candidates.length} ${many} of this store start with "${start}"`,
    { hint: ['Give more of the id:', ...candidateLines(candidates)].join('\n') },
  ]
}

/**
 * Returns the message for a name or e-mail that several orders have, and a hint with each order and its command. A
 * terminal shows only the hint, because the list is an answer and not an error.
 */
export function ambiguousPerson(
  text: string,
  orders: readonly { description: string; command: string }[],
): [message: string, options: { hint: string; isUserChoice: true }] {
  const message = `${orders.length} orders of this store are for "${redactArgument(text)}"`
  const named = orders
    .slice(0, maxNamed)
    .flatMap(({ description, command }) => [`  ${description}`, `    ${command}`])
  const more = orders.length - maxNamed
  const hint = [`${message}:`, ...named, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n')
  return [message, { hint, isUserChoice: true }]
}

function candidateLines(candidates: readonly (readonly [id: string, description: string])[]): string[] {
  const named = candidates.slice(0, maxNamed).map(([id, description]) => `  ${id}  ${description}`)
  const more = candidates.length - named.length
  return more > 0 ? [...named, `  and ${more} more`] : named
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const uuidExample = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

/** Whether a text is the id of a request, or at least its first 4 characters. */
export const isRequestIdStart = (text: string): boolean =>
  text.length >= 4 && uuidPattern.test(`${text}${uuidExample.slice(text.length)}`)

/** Returns an id or its start in lower case. Throws a UsageError, which names the flag `what`, for any other text. */
export function requestIdStart(text: string, what: string): string {
  if (isRequestIdStart(text)) return text.toLowerCase()
  throw new UsageError(`${what}: "${redactArgument(text)}" is not a request id`, {
    hint: 'Give at least the first 4 characters of the id. List the requests with: refcheck request list',
  })
}

/** Whether an id or its start is a complete id. */
export const isWholeId = (text: string): boolean => text.length === 36

/**
 * Parses a package id: a whole number from 1. Throws a UsageError, which names the flag `what`, for any other text.
 */
export function parsePackageId(text: string, what: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    throw new UsageError(`${what}: "${redactArgument(text)}" is not a package id`, {
      hint: 'Package ids are whole numbers. List them with: refcheck packages list',
    })
  }
  return Number(text)
}
