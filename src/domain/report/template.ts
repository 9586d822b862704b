import { createHash } from 'node:crypto'

import { UsageError } from '../../errors/kinds.ts'
import { type ReportTarget, targetKey } from './source.ts'

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

/**
 * Which report has which file name in a folder. Two that would be called the same, also where a disk
 * minds neither case nor the form of accents, get numbers in the order they are planned; a name that
 * is on record stays its report's.
 */
export class FileNames {
  readonly #owners = new Map<string, string>()
  readonly #recorded = new Map<string, string>()
  readonly #next = new Map<string, number>()

  constructor(recorded: Iterable<{ key: string; file: string }>) {
    for (const { key, file } of recorded) {
      this.#owners.set(folded(file), key)
      this.#recorded.set(key, file)
    }
  }

  /** The name for a report that would like to be called `wanted`. */
  assign(key: string, wanted: string): string {
    const had = this.#recorded.get(key)
    if (had !== undefined && isNumbered(had, wanted)) return had
    const first = folded(wanted)
    for (let number = this.#next.get(first) ?? 1; ; number += 1) {
      const name = numbered(wanted, number)
      if (this.#owners.has(folded(name))) continue
      this.#owners.set(folded(name), key)
      this.#next.set(first, number)
      return name
    }
  }
}

/** Whether it is `wanted` itself or one of its numbered names. */
function isNumbered(name: string, wanted: string): boolean {
  const [, number = '1'] = /-([1-9]\d{0,8})\.pdf$/.exec(name) ?? []
  return name === wanted || name === numbered(wanted, Number(number))
}

function folded(name: string): string {
  return name.normalize('NFKC').toLowerCase().toUpperCase().normalize('NFC')
}

/** Maximum bytes of a name's part; a few of them stay below the 255 of file systems. */
const longestPart = 60

/** Names Windows keeps for devices, whatever the extension ("Naming Files, Paths, and Namespaces"). */
const reserved = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)(?=\.|$)/i

/** Text from the service as one part of a file name: nothing that any system treats as more than a letter. */
export function namePart(text: string): string {
  const plain = text
    .slice(0, 400)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  return unreserved(truncated(plain, longestPart).replace(/(?<!-)-+$/, ''))
}

/** The name of a report asked for by its ids alone. */
export function plainReportName(checkId: string, refereeId: string | undefined): string {
  const referee = refereeId === undefined ? '' : `-referee-${namePart(refereeId) || 'unnamed'}`
  return `report-${namePart(checkId)}${referee}.pdf`
}

/** A name that Windows does not take for a device. */
function unreserved(name: string): string {
  return name.replace(reserved, '$&-')
}

/** At most `bytes` of UTF-8, cut between characters. */
export function truncated(text: string, bytes: number): string {
  let taken = 0
  let end = 0
  for (const character of text) {
    taken += Buffer.byteLength(character)
    if (taken > bytes) break
    end += character.length
  }
  return text.slice(0, end)
}
