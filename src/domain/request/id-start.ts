import { UsageError } from '../../errors/kinds.ts'
import { redactArgument } from '../wording/redact-argument.ts'

/** Ids that are named of those that start alike. */
const maxNamed = 5

/** What is told of the start of an id that several have: the message, and the candidates as its hint. */
export function ambiguousStart(
  what: 'request' | 'batch',
  start: string,
  candidates: readonly (readonly [id: string, about: string])[],
): [message: string, options: { hint: string }] {
  const named = candidates.slice(0, maxNamed).map(([id, about]) => `  ${id}  ${about}`)
  const more = candidates.length - named.length
  const lines = more > 0 ? [...named, `  and ${more} more`] : named
  const many = what === 'request' ? 'requests' : 'batches'
  return [
    `${candidates.length} ${many} of this store start with "${start}"`,
    { hint: ['Give more of the id:', ...lines].join('\n') },
  ]
}

/** Whether it is an id from its first to its last character. */
export const isWholeId = (text: string): boolean => text.length === 36

/** A package id: a whole number from 1, written in digits only. */
export function parsePackageId(text: string, what: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) {
    throw new UsageError(`${what}: "${redactArgument(text)}" is not a package id`, {
      hint: 'Package ids are whole numbers. List them with: refcheck packages list',
    })
  }
  return Number(text)
}
