import { shellWord } from '../wording/shell-word.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { FieldValue, RequestBody } from '../../contract/request-body.ts'
import { RefcheckError } from '../../errors/base.ts'
import { bodyFromFlags } from './flags.ts'

/** What a terminal, or a reader's eye, would not give back as it is. */
const unprintable = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u

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
    const given: [string, string][] = [
      ['--package', String(package_id)],
      ['--first-name', recipient.first_name],
      ['--last-name', recipient.last_name],
      ['--email', recipient.email],
      ['--phone', recipient.phone],
      ...fieldsOf(body).map((field): [string, string] => ['--field', field]),
    ]
    return [...command, ...given.flat(), ...flags, '--yes'].map(shellWord).join(' ')
  }
  const json = plain(JSON.stringify(body))
  return `printf %s ${shellWord(json)} | ${[...command, '--file', '-', ...flags, '--yes'].map(shellWord).join(' ')}`
}

/** The values of the --field flags. */
function fieldsOf({ additional_information = [] }: RequestBody): string[] {
  return additional_information.flatMap(({ code, fields }) =>
    Object.entries(fields).map(([name, value]) => `${code}.${name}=${flagText(value)}`),
  )
}

function flagText(value: FieldValue): string {
  return typeof value === 'string' ? value : plain(JSON.stringify(value))
}

/** Whether flags give this body back. A value that begins with a dash could be taken for a flag itself. */
function saysExactly(body: RequestBody, schema: PackageSchema): boolean {
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
