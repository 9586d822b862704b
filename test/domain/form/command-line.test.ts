import { execFileSync } from 'node:child_process'

import { type Interfaces, Parser } from '@oclif/core'
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  dictionary,
  double,
  jsonValue,
  maxSafeInteger,
  oneof,
  option,
  record,
  string,
  stringMatching,
} from 'fast-check'
import { describe, expect, test } from 'vitest'

import RequestCreate from '../../../src/commands/request/create.ts'
import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import type { RequestBody } from '../../../src/contract/request.ts'
import { parseBodyFile } from '../../../src/domain/form/json-text.ts'
import { bodyFromFlags, commandLine } from '../../../src/domain/form/flags.ts'
import { validateBody } from '../../../src/domain/form/validate.ts'
import { sanitize } from '../../../src/host/text.ts'
import { plainSchema, recipientOf, sampleBody, sampleSchema, schemaOf } from './sample-schema.ts'

interface ParsedFlags {
  [flag: string]: unknown
  package: number | undefined
  'first-name': string | undefined
  'last-name': string | undefined
  email: string | undefined
  phone: string | undefined
  field: string[] | undefined
  file: string | undefined
  yes: boolean
}

/** Runs the lines in a shell and returns the arguments and the stdin of each command. */
function runInShell(lines: readonly string[]): { args: string[]; stdin: string }[] {
  const script = String.raw`
    refcheck() { printf '%s\0' "$@"; printf '\001'; case "$*" in *'--file -'*) cat;; esac; printf '\002'; }
    ${lines.join('\n')}`
  const output = execFileSync('sh', { input: script, encoding: 'utf8', maxBuffer: 2 ** 26 })
  return output
    .split('\u0002')
    .slice(0, -1)
    .map((run) => {
      const [args = '', stdin = ''] = run.split('\u0001')
      return { args: args.split('\0').slice(0, -1), stdin }
    })
}

/** Returns the body that `request create` reads from the arguments and the stdin. */
async function readBody(run: { args: string[]; stdin: string }, schema: PackageSchema): Promise<unknown> {
  const [topic, verb, ...argv] = run.args
  expect([topic, verb]).toEqual(['request', 'create'])
  const { flags } = await Parser.parse<ParsedFlags, ParsedFlags, Record<string, never>>(argv, {
    flags: RequestCreate.flags as Interfaces.FlagInput<ParsedFlags>,
    strict: true,
  })
  expect(flags.yes).toBe(true)
  if (flags.file === '-') return parseBodyFile(Buffer.from(run.stdin))
  expect(flags.package).toBe(schema.id)
  return bodyFromFlags(
    {
      firstName: flags['first-name'],
      lastName: flags['last-name'],
      email: flags.email,
      phone: flags.phone,
      fields: flags.field,
    },
    schema,
  )
}

/**
 * Runs the body's command line in a shell and returns the body that refcheck reads from stdin. Fails if the command
 * line does not pass the body as JSON.
 */
async function bodyOnStdin(body: RequestBody, schema: PackageSchema): Promise<unknown> {
  const line = commandLine(body, schema)
  expect(line).toMatch(/^printf %s '\{.*\}' \| refcheck request create --file - --yes$/)
  expect(sanitize(line, { keepsLines: true })).toBe(line)
  const [run = { args: [], stdin: '' }] = runInShell([line])
  return readBody(run, schema)
}

test('a plain body becomes a command line of flags', () => {
  expect(commandLine(sampleBody(), sampleSchema)).toBe(
    'refcheck request create --package 12 --first-name Ann --last-name Lee --email ann@example.com ' +
      '--phone +61400000000 --field ncc_acic.date_of_birth=1990-04-23 --field ncc_acic.years_resident=3 ' +
      `--field 'ncc_acic.aliases=["Anne"]' --field licence.licence_number=A-1 --field licence.points=1.5 ` +
      `--field licence.commercial=false --field 'licence.issuer={"name":"State","since":1990}' --yes`,
  )
})

test('other flags are inserted before --yes', () => {
  const body = { package_id: 7, recipient: recipientOf({ last_name: "O'Neil" }) }
  expect(commandLine(body, plainSchema, ['--profile', 'my work'])).toBe(
    String.raw`refcheck request create --package 7 --first-name Ann --last-name 'O'\''Neil' --email ann@example.com ` +
      `--phone +61400000000 --profile 'my work' --yes`,
  )
})

describe('a body that flags cannot express is passed as JSON', () => {
  test.each<[string, unknown]>([
    ['a line break', [{ code: 'notes', fields: { remark: 'a\nb' } }]],
    ['NUL', [{ code: 'notes', fields: { remark: 'a\u0000b' } }]],
    ['an escape sequence', [{ code: 'notes', fields: { remark: '\u001B[31m\u009B' } }]],
    ['a bidi override', [{ code: 'notes', fields: { remark: '\u202Ex' } }]],
    ['half a character', [{ code: 'notes', fields: { remark: '\uD800x' } }]],
    ['more than an argument holds', [{ code: 'notes', fields: { remark: 'x'.repeat(200_000) } }]],
    ['an entry without a value', [{ code: 'notes', fields: {} }]],
    ['no entries', []],
  ])('%s', async (_name, additional_information) => {
    const schema = schemaOf({ notes: { remark: ['string', false] } })
    const body = { package_id: 12, recipient: recipientOf(), additional_information } as RequestBody
    expect(await bodyOnStdin(body, schema)).toEqual(body)
  })

  test.each(['--yes', '-x', '-'])('a name that looks like a flag: %s', async (first_name) => {
    const body = { package_id: 7, recipient: recipientOf({ first_name }) }
    expect(await bodyOnStdin(body, plainSchema)).toEqual(body)
  })
})

test('a command line run in a shell produces exactly its original body', async () => {
  const schema = schemaOf({
    'x.y': { s: ['string', false], 'odd name=\'"$`\\': ['string', false], n: ['number', false] },
    x: {
      'y.i': ['integer', true],
      y: ['array', false],
      o: ['object', false],
      b: ['boolean', false],
      arbitrary_date: ['date', false],
    },
  })
  const text = oneof(
    string(),
    string({ unit: 'grapheme' }),
    stringMatching(/^[-=.'"$`\\ !~*#&;|<>(){}?\n]{1,8}$/),
  )
  const name = text.map((given) => `${given.replaceAll(/\p{Cc}/gu, '')}.`)
  const fieldsX = record(
    {
      'y.i': maxSafeInteger(),
      y: array(jsonValue()),
      o: dictionary(string(), jsonValue()),
      b: constantFrom(true, false),
      // A body may have any value in a field of type `date`.
      arbitrary_date: oneof(text, jsonValue()),
    },
    { requiredKeys: ['y.i'] },
  )
  const fieldsXy = record(
    { s: text, 'odd name=\'"$`\\': text, n: double({ noDefaultInfinity: true, noNaN: true }) },
    { requiredKeys: [] },
  )
  const bodies = record({ first_name: name, last_name: name, x: fieldsX, xy: option(fieldsXy) }).map(
    (parts) => ({
      package_id: 12,
      recipient: recipientOf({ first_name: parts.first_name, last_name: parts.last_name }),
      additional_information: [
        { code: 'x', fields: parts.x },
        ...(parts.xy === null ? [] : [{ code: 'x.y', fields: parts.xy }]),
      ],
    }),
  )
  await assert(
    asyncProperty(array(bodies, { minLength: 5, maxLength: 20 }), async (given) => {
      const acceptedBodies = given.flatMap(
        (body) => validateBody(JSON.parse(JSON.stringify(body)), schema).body ?? [],
      )
      const lines = acceptedBodies.map((body) => commandLine(body, schema))
      expect(lines.map((line) => sanitize(line, { keepsLines: true }))).toEqual(lines)
      const parsedBodies = await Promise.all(runInShell(lines).map((run) => readBody(run, schema)))
      expect(parsedBodies.map((body) => JSON.stringify(body))).toEqual(
        acceptedBodies.map((body) => JSON.stringify(body)),
      )
    }),
    { numRuns: 50 },
  )
})
