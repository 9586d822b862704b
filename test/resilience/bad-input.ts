import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Value {
  name: string
  required?: boolean
  options?: string[]
  helpValue?: string
  type?: string
}

interface Described {
  args: Record<string, Value>
  flags: Record<string, Value>
}

/** A command line that has to be refused. */
export interface BadLine {
  id: string
  what: string
  argv: string[]
}

const numbers = ['1e3', '0x10', '12abc', '-1', 'NaN', '']
const ids = ['not-an-id', '../../etc/passwd', '12345678-1234-1234-1234-12345678901', '']
const urls = [
  'http://evil.example.com',
  'https://user:pass@api.example.com',
  'nonsense',
  'javascript:alert(1)',
]
const files = ['missing.file', 'missing/folder/file']
const durations = ['5 parsecs', '-1s', '1e3s', '']
const dates = ['2026-02-30', '2026-13-01', 'yesterday', '']
const emails = ['ana@example.com\r\nBcc: all@example.com', `${'a'.repeat(260)}@example.com`, 'nobody', '']
const names = ['..', '../x', '__proto__ x', '']

/** What is no value of a kind, by what the manifest calls it; nothing where any text is one. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  N: numbers,
  PORT: numbers,
  ID: numbers,
  UUID: ids,
  REQUEST_ID: ids,
  URL: urls,
  SIGNED_URL: urls,
  DURATION: durations,
  DATE: dates,
  HEX: ['', 'g'.repeat(64), `sha256=${'a'.repeat(64)}`],
  CC: ['ZZ', 'Australia', ''],
  'CALLS/SECONDS,…': ['1e3/60', '60', '-1/60', ''],
  "'Given name=first_name'": ['no mapping'],
  'CODE.NAME=VALUE': ['no value'],
}

/** The same of arguments, by their names. */
const argumentKinds: Readonly<Record<string, readonly string[]>> = {
  package_id: numbers,
  request_id: ids,
  check_id: ids,
  duration: durations,
  url: urls,
  code: ['no-code', ''],
  key: ['no-such-setting', '__proto__'],
  scenario: ['no-such-scenario'],
  method: ['POST', 'DELETE'],
  command: ['no such command'],
}

/** Whose file is one to be made. */
const writes = new Set(['store:backup'])

/** Of these any text is one, or what it has to be only what it is looked up in says. */
export const anyText: ReadonlySet<string> = new Set([
  'BATCH_ID',
  'A,B',
  'CALLS',
  'CIDR',
  'COLUMN',
  'COMMAND',
  'DIR',
  'DIR|FILE|-',
  'EXPR',
  'FILE',
  'FILE|:memory:',
  'HOST',
  'JSON',
  'NAME',
  'NAME=CHOICE',
  'NAMES',
  'PATH',
  'PHONE',
  'ROLE',
  'STATE',
  'STATUS',
  'TEAM',
  'TEMPLATE',
  'TEXT',
  'VALUE',
])

/** Right values, for what a line needs besides what is wrong in it. */
const right: Readonly<Record<string, string>> = {
  package_id: '102',
  request_id: '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f',
  check_id: '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f',
  batch_id: '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f',
  id: '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f',
  method: 'GET',
  path: '/v1/ping',
  url: 'http://127.0.0.1:9',
  to: 'http://127.0.0.1:9',
  file: 'people.csv',
  duration: '1s',
}

const root = join(import.meta.dirname, '..', '..')
const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, Described>
}

/** Every command of our own. */
export const commandIds = Object.keys(commands).filter((id) => !/^(help|autocomplete)\b/.test(id))

/** What the flags of all commands are said to take, where no list says it. */
export const takenByFlags: ReadonlySet<string> = new Set(
  commandIds.flatMap((id) =>
    Object.values(commands[id]?.flags ?? {})
      .filter(({ type, options }) => type === 'option' && options === undefined)
      .map(({ helpValue = '' }) => helpValue),
  ),
)

/** Whether it is known what is no value of it. */
export const isKnown = (helpValue: string): boolean =>
  helpValue === 'EMAIL' || helpValue in kinds || anyText.has(helpValue)

/** Lines of one command, each with one thing that is wrong. */
export function badLines(id: string): BadLine[] {
  const { args = {}, flags = {} } = commands[id] ?? {}
  const words = id.split(':')
  const needed = Object.values(args).filter(({ required }) => required)
  const positional = (but?: string, instead?: string): string[] =>
    needed.map(({ name }) => (name === but ? (instead ?? '') : (right[name] ?? 'x')))
  const requiredFlags = (but?: string): string[] =>
    Object.values(flags)
      .filter(({ required, name }) => required && name !== but)
      .flatMap(({ name }) => [`--${name}`, right[name] ?? 'x'])
  const whole = [...words, ...positional(), ...requiredFlags()]
  const line = (what: string, argv: string[]): BadLine => ({ id, what, argv })
  const options = Object.values(flags).filter(({ type }) => type === 'option')
  const wrongFlags = options.flatMap((flag) => {
    const wrong = flag.options === undefined ? valuesOf(flag) : ['no-such-choice']
    return wrong.map((value) =>
      line(`--${flag.name} ${JSON.stringify(value).slice(0, 40)}`, [
        ...words,
        ...positional(),
        ...requiredFlags(flag.name),
        `--${flag.name}=${value}`,
      ]),
    )
  })
  const wrongArguments = needed.flatMap(({ name }) =>
    (argumentKinds[name] ?? (name === 'file' && !writes.has(id) ? files : [])).map((value) =>
      line(`${name} ${JSON.stringify(value)}`, [...words, ...positional(name, value), ...requiredFlags()]),
    ),
  )
  return [
    line('an unknown flag', [...whole, '--no-such-flag']),
    line('stray words', [...whole, 'stray', 'words', 'of', 'many', 'kinds']),
    line('a flag without its value', [...whole, '--profile']),
    ...(needed.length > 0 ? [line('nothing', words)] : []),
    ...names.map((name) => line(`--profile ${JSON.stringify(name)}`, [...whole, `--profile=${name}`])),
    ...wrongFlags,
    ...wrongArguments,
  ]
}

function valuesOf({ name, helpValue = '' }: Value): readonly string[] {
  // Other containers reach a sandbox by http.
  if (name === 'public-url') return urls.slice(2)
  // Where a person's own e-mail is looked for, one that is none is simply not found.
  if (helpValue === 'EMAIL') return name === 'confirm-email' ? emails.slice(0, 1) : []
  return kinds[helpValue] ?? []
}
