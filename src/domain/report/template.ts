import { createHash } from 'node:crypto'

import { UsageError } from '../../errors/kinds.ts'
import { type ReportTarget, targetKey } from './source.ts'

/** The fields of a template, and their values. */
const templateFields: Readonly<Record<string, (target: ReportTarget) => string>> = {
  last_name: ({ person }) => person.lastName,
  first_name: ({ person }) => person.firstName,
  email: ({ person }) => person.email,
  check_name: ({ title }) => title,
  referee_name: ({ refereeName }) => refereeName ?? '',
  date: ({ createdAt }) => /^\d{4}-\d{2}-\d{2}/.exec(utcTime(createdAt))?.[0] ?? 'undated',
  request_id: ({ requestId }) => requestId,
  check_id: ({ checkId }) => checkId,
  referee_id: ({ refereeId }) => refereeId ?? '',
  package_id: ({ packageId }) => String(packageId),
  id: shortId,
}

/** Sorts files by person and then by check. The id makes each name unique. */
export const defaultTemplate = '{last_name}-{first_name}_{check_name}_{id}.pdf'

/** Creates names of report files. */
export interface NameTemplate {
  /**
   * Returns a path relative to the output folder, with `/` between folders. It is valid on Linux, macOS and Windows.
   */
  name(target: ReportTarget): string
}

type Part = { literal: string } | { field: string }

/** A file name may have 255 bytes on all systems, including `.pdf` and a number. */
const maxSegmentBytes = 240
const maxFolders = 8
/** Characters that are allowed between fields. Others have a special meaning on some system. */
const literalText = /^[\p{L}\p{M}\p{N} _.,()+@#&=~-]*$/u

/**
 * Parses `--name-template`. Throws UsageError for an unknown field, or for a path that could lead out of the folder.
 */
export function parseTemplate(text: string): NameTemplate {
  if (text.length > 500) throw templateError('it is longer than 500 characters')
  const segments = text
    .replace(/\.pdf$/i, '')
    .split('/')
    .map(parseSegment)
  if (segments.length > maxFolders) throw templateError(`it has more than ${maxFolders} folders`)
  if (!segments.at(-1)?.some((part) => 'field' in part)) {
    throw templateError('it has no field, so every report would have the same name')
  }
  return {
    name: (target) => {
      const rendered = segments.map((parts) => renderSegment(parts, target))
      return `${rendered.join('/')}.pdf`
    },
  }
}

/** Adds a number to a name: `a/b.pdf` becomes `a/b-2.pdf`. The number 1 is not added. */
export function numberedName(name: string, number: number): string {
  return number === 1 ? name : `${name.slice(0, -'.pdf'.length)}-${number}.pdf`
}

function parseSegment(segment: string): Part[] {
  if (segment.trim() === '') {
    throw templateError('a folder or file in it has no name')
  }
  if (/^\.+$/.test(segment)) throw templateError(`"${segment}" points to another folder`)
  return segment.split(/(\{[^{}]*\})/).map((each): Part => {
    if (each.startsWith('{') && each.endsWith('}')) return { field: requireField(each.slice(1, -1)) }
    if (!literalText.test(each)) {
      const refusedCharacter = Array.from(each).find((character) => !literalText.test(character)) ?? ''
      throw templateError(`"${refusedCharacter}" is not allowed in file names on every system`)
    }
    return { literal: each }
  })
}

function requireField(name: string): string {
  if (Object.hasOwn(templateFields, name)) return name
  throw templateError(`unknown field "${name.slice(0, 40)}"`)
}

function renderSegment(parts: readonly Part[], target: ReportTarget): string {
  const text = parts
    .map((part) => ('field' in part ? namePart(templateFields[part.field]?.(target) ?? '') : part.literal))
    .join('')
    .normalize('NFC')
  // A leading dot hides a file and a leading dash makes it a flag. Windows removes dots and spaces at the end.
  const shortened = trim(truncate(trim(text), maxSegmentBytes))
  return shortened === '' ? 'unnamed' : avoidDeviceName(shortened)
}

const trim = (text: string): string => text.replace(/^[-_. ]+|[-_. ]+$/g, '')

/** Returns the time in UTC, for a timestamp with any offset. */
function utcTime(timestamp: string): string {
  const date = new Date(timestamp)
  return Number.isNaN(date.getTime()) ? timestamp : date.toISOString()
}

/** Returns a part of the key's hash that is long enough to distinguish reports, for ids with any characters. */
function shortId(target: ReportTarget): string {
  return createHash('sha256').update(targetKey(target)).digest('hex').slice(0, 8)
}

function templateError(why: string): UsageError {
  return new UsageError(`--name-template: ${why}`, {
    hint: `Fields: ${Object.keys(templateFields)
      .map((name) => `{${name}}`)
      .join(' ')}`,
  })
}

/**
 * Assigns file names to the reports of a folder. Reports with the same name get numbers in the order of the plan.
 * Names are compared without case and without the form of accents, as some file systems do. A recorded report keeps
 * its name.
 */
export class FileNames {
  readonly #keyByName = new Map<string, string>()
  readonly #nameByKey = new Map<string, string>()
  readonly #nextNumber = new Map<string, number>()

  constructor(records: Iterable<{ key: string; file: string }>) {
    for (const { key, file } of records) {
      this.#keyByName.set(foldName(file), key)
      this.#nameByKey.set(key, file)
    }
  }

  /** Returns the name for a report whose template gives `wanted`. */
  assign(key: string, wanted: string): string {
    const recordedName = this.#nameByKey.get(key)
    if (recordedName !== undefined && isNumbered(recordedName, wanted)) return recordedName
    const foldedWanted = foldName(wanted)
    for (let number = this.#nextNumber.get(foldedWanted) ?? 1; ; number += 1) {
      const name = numberedName(wanted, number)
      if (this.#keyByName.has(foldName(name))) continue
      this.#keyByName.set(foldName(name), key)
      this.#nextNumber.set(foldedWanted, number)
      return name
    }
  }
}

/** Whether a name is `wanted` or one of its numbered names. */
function isNumbered(name: string, wanted: string): boolean {
  const [, number = '1'] = /-([1-9]\d{0,8})\.pdf$/.exec(name) ?? []
  return name === wanted || name === numberedName(wanted, Number(number))
}

function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase().toUpperCase().normalize('NFC')
}

/**
 * The maximum number of bytes of a field in a name, so that several fields stay below the 255 bytes of file systems.
 */
const maxPartBytes = 60

/** Names that Windows reserves for devices, with any extension ("Naming Files, Paths, and Namespaces"). */
const deviceName = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$)(?=\.|$)/i

/** Converts a text of the service to a part of a file name that has no special meaning on any system. */
export function namePart(text: string): string {
  const plain = text
    .slice(0, 400)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  return avoidDeviceName(truncate(plain, maxPartBytes).replace(/(?<!-)-+$/, ''))
}

/** Returns the file name of a report that was downloaded by its ids alone. */
export function plainReportName(checkId: string, refereeId: string | undefined): string {
  const referee = refereeId === undefined ? '' : `-referee-${namePart(refereeId) || 'unnamed'}`
  return `report-${namePart(checkId)}${referee}.pdf`
}

/** Changes a name that Windows would treat as a device. */
function avoidDeviceName(name: string): string {
  return name.replace(deviceName, '$&-')
}

/** Cuts a text to at most `bytes` bytes of UTF-8, between characters. */
export function truncate(text: string, bytes: number): string {
  let usedBytes = 0
  let end = 0
  for (const character of text) {
    usedBytes += Buffer.byteLength(character)
    if (usedBytes > bytes) break
    end += character.length
  }
  return text.slice(0, end)
}
