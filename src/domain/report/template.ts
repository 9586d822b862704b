import { createHash } from 'node:crypto'

import { UsageError } from '../../errors/kinds.ts'
import { namePart, truncated, unreserved } from './name.ts'
import { type ReportTarget, targetKey } from './targets.ts'

/** What a template may name in braces, and what it becomes. */
const fields: Readonly<Record<string, (target: ReportTarget) => string>> = {
  last_name: ({ person }) => person.lastName,
  first_name: ({ person }) => person.firstName,
  email: ({ person }) => person.email,
  check_name: ({ title }) => title,
  referee_name: ({ refereeName }) => refereeName ?? '',
  date: ({ createdAt }) => /^\d{4}-\d{2}-\d{2}/.exec(utc(createdAt))?.[0] ?? 'undated',
  request_id: ({ requestId }) => requestId,
  check_id: ({ checkId }) => checkId,
  referee_id: ({ refereeId }) => refereeId ?? '',
  package_id: ({ packageId }) => String(packageId),
  id: shortId,
}

/** Sorts by person, then by check; the id keeps it apart from every other report. */
export const defaultTemplate = '{last_name}-{first_name}_{check_name}_{id}.pdf'

/** Names of report files, made from the reports. */
export interface NameTemplate {
  /** Relative to the output folder, with `/` between folders; safe on Linux, macOS and Windows. */
  name(target: ReportTarget): string
}

type Part = { literal: string } | { field: string }

/** A file name may have 255 bytes everywhere; `.pdf` and a number have to fit in. */
const longestSegment = 240
const deepest = 8
/** What may stand between fields; the rest means something to one system or another. */
const plainText = /^[\p{L}\p{M}\p{N} _.,()+@#&=~-]*$/u

/** Reads `--name-template`. Throws UsageError for an unknown field, or a path that could lead elsewhere. */
export function parseTemplate(text: string): NameTemplate {
  if (text.length > 500) throw refuse('it is longer than 500 characters')
  const segments = text
    .replace(/\.pdf$/i, '')
    .split('/')
    .map(partsOf)
  if (segments.length > deepest) throw refuse(`it has more than ${deepest} folders`)
  if (!segments.at(-1)?.some((part) => 'field' in part)) {
    throw refuse('it has no field, so every report would have the same name')
  }
  return {
    name: (target) => {
      const rendered = segments.map((parts) => segmentOf(parts, target))
      return `${rendered.join('/')}.pdf`
    },
  }
}

/** `a/b.pdf` as `a/b-2.pdf`; 1 is the name as it is. */
export function numbered(name: string, number: number): string {
  return number === 1 ? name : `${name.slice(0, -'.pdf'.length)}-${number}.pdf`
}

function partsOf(segment: string): Part[] {
  if (segment.trim() === '') {
    throw refuse('a folder or file in it has no name')
  }
  if (/^\.+$/.test(segment)) throw refuse(`"${segment}" points to another folder`)
  return segment.split(/(\{[^{}]*\})/).map((each): Part => {
    if (each.startsWith('{') && each.endsWith('}')) return { field: known(each.slice(1, -1)) }
    if (!plainText.test(each)) {
      const odd = Array.from(each).find((character) => !plainText.test(character)) ?? ''
      throw refuse(`"${odd}" is not allowed in file names on every system`)
    }
    return { literal: each }
  })
}

function known(name: string): string {
  if (Object.hasOwn(fields, name)) return name
  throw refuse(`unknown field "${name.slice(0, 40)}"`)
}

function segmentOf(parts: readonly Part[], target: ReportTarget): string {
  const text = parts
    .map((part) => ('field' in part ? namePart(fields[part.field]?.(target) ?? '') : part.literal))
    .join('')
    .normalize('NFC')
  // A leading dot hides, a leading dash is a flag; Windows drops dots and spaces at the end.
  const plain = trimmed(truncated(trimmed(text), longestSegment))
  return plain === '' ? 'unnamed' : unreserved(plain)
}

const trimmed = (text: string): string => text.replace(/^[-_. ]+|[-_. ]+$/g, '')

/** The day in UTC, whatever offset it was written with. */
function utc(timestamp: string): string {
  const at = new Date(timestamp)
  return Number.isNaN(at.getTime()) ? timestamp : at.toISOString()
}

/** Enough of the key's hash to tell reports apart, whatever characters the ids hold. */
function shortId(target: ReportTarget): string {
  return createHash('sha256').update(targetKey(target)).digest('hex').slice(0, 8)
}

function refuse(why: string): UsageError {
  return new UsageError(`--name-template: ${why}`, {
    hint: `Fields: ${Object.keys(fields)
      .map((name) => `{${name}}`)
      .join(' ')}`,
  })
}
