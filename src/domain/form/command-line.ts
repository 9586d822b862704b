import { shellWord } from '../wording/shell-word.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { FieldValue, RequestBody } from '../../contract/request-body.ts'
import { RefcheckError } from '../../errors/base.ts'
import { bodyFromFlags } from './flags.ts'
import type { DraftBody } from './validate.ts'

/** What a terminal, or a reader's eye, would not give back as it is. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]/u

const recipientFlags = [
  ['--first-name', 'first_name'],
  ['--last-name', 'last_name'],
  ['--email', 'email'],
  ['--phone', 'phone'],
] as const

/** Linux takes 128 KiB in one argument; what a shell's own printf is given has no such limit. */
const longestLine = 100_000

/**
 * The command line for a POSIX shell that creates this request without a question. A body that flags
 * cannot say exactly (an empty entry, a control character in a value) goes in as JSON on stdin instead;
 * the line itself never holds a character a terminal would swallow. `flags` are put in before `--yes`.
 */
export function commandLine(body: RequestBody, schema: PackageSchema, flags: readonly string[] = []): string {
  const command = ['refcheck', 'request', 'create']
  if (saysExactly(body, schema)) {
    const { recipient, package_id } = body
    const given = [
      ...recipientFlags.flatMap(([flag, name]) => [flag, recipient[name]]),
      ...fieldsOf(body).flatMap((field) => ['--field', field]),
    ]
    return [...command, '--package', String(package_id), ...given, ...flags, '--yes'].map(shellWord).join(' ')
  }
  const json = plain(JSON.stringify(body))
  return `printf %s ${shellWord(json)} | ${[...command, '--file', '-', ...flags, '--yes'].map(shellWord).join(' ')}`
}

/** The command line that asks on from these answers; undefined where there are none yet, or flags cannot say them exactly. */
export function unfinishedLine(draft: DraftBody, schema: PackageSchema): string | undefined {
  const { package_id, recipient } = draft
  const given = recipientFlags.flatMap(([flag, name]) => {
    const value = recipient[name]
    return value === undefined ? [] : [flag, value]
  })
  if (given.length === 0 || !saysExactly(draft, schema)) return undefined
  const fields = fieldsOf(draft).flatMap((field) => ['--field', field])
  return ['refcheck', 'request', 'create', '--package', String(package_id), ...given, ...fields]
    .map(shellWord)
    .join(' ')
}

/** The values of the --field flags. */
function fieldsOf({ additional_information = [] }: DraftBody): string[] {
  return additional_information.flatMap(({ code, fields }) =>
    Object.entries(fields).map(([name, value]) => `${code}.${name}=${flagText(value)}`),
  )
}

function flagText(value: FieldValue): string {
  return typeof value === 'string' ? value : plain(JSON.stringify(value))
}

/** Whether flags give this body back. A value that begins with a dash could be taken for a flag itself. */
function saysExactly(body: DraftBody, schema: PackageSchema): boolean {
  const fields = fieldsOf(body)
  const values = [...Object.values(body.recipient), ...fields]
  if (values.some((value) => value.startsWith('-') || unprintable.test(value))) return false
  if (values.join('').length > longestLine) return false
  try {
    const { additional_information } = bodyFromFlags({ fields }, schema)
    return JSON.stringify(additional_information) === JSON.stringify(body.additional_information)
  } catch (error) {
    if (error instanceof RefcheckError) return false
    throw error
  }
}

/** JSON whose strings hold nothing unprintable: JSON escapes only some of it by itself. */
function plain(json: string): string {
  return json.replaceAll(new RegExp(unprintable, 'gu'), (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(''),
  )
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
