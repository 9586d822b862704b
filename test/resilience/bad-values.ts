/** A description of an invalid or unusual value, and the value. */
type Bad = readonly [what: string, value: string]

/** A kind of value that an argument or a flag accepts. */
export interface Kind {
  /** A valid value. */
  right: string
  /** Values that are invalid for this kind; those of `odd` are added for every kind. */
  wrong: readonly Bad[]
  /** Whether any text is valid, so that a command may accept the values of `odd`. */
  takesText?: boolean
}

/** Texts that are not a valid number, date, address or id, but could be in a person's name. */
export const odd: readonly Bad[] = [
  ['nothing', ''],
  ['blanks', ' \t '],
  ['terminal codes', '\u001B]52;c;ZXZpbA==\u0007\u001B[2Jred'],
  ['a line break', 'one\r\ntwo'],
  ['NUL', 'one\u0000two'],
  ['100 KB', 'x'.repeat(100_000)],
  ['a path to a parent folder', '../../outside'],
  ['a property of every object', '__proto__'],
  ['half a surrogate pair', 'one\uD800two'],
  ['a right-to-left mark', '\u202Efdp.exe\u2066'],
  ['invisible characters', 'one\u200B\uFEFFtwo'],
  ['a shell’s words', '$(id) `id` ; id | id'],
  ['a format', '%s%n {{1+1}} ${1}'],
]

const none = (...values: readonly string[]): Bad[] => values.map((value) => [JSON.stringify(value), value])

const wholeNumbers = none('1e3', '0x10', '12abc', '-1', '1.5', '+1', '٣', 'NaN', 'Infinity', '9'.repeat(40))
const ids = none('not-an-id', '12345678-1234-1234-1234-12345678901', '{12345678-1234-1234-1234-123456789012}')
const urls = none(
  'http://evil.example.com',
  'https://user:pass@api.example.com',
  'nonsense',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://',
  'https://[::1',
  'https://api.example.com:99999',
)

/** Paths that cannot be read; world-of-bad-input.ts creates the files. */
const unreadable: Bad[] = [
  ['a missing file', 'missing.file'],
  ['a missing folder', 'missing/folder/file'],
  ['a folder', 'a-folder'],
  ['a file for a folder', 'people.csv/file'],
  ['a link to itself', 'loop'],
  ['a name that is too long', 'n'.repeat(300)],
]
/** Paths that can be read, but whose content is not valid for any command; `-` is stdin. */
const misread: Bad[] = [
  ['an empty file', 'empty.bin'],
  ['bytes that are not UTF-8', 'bytes.bin'],
  ['NULs', 'nul.bin'],
  ['a line of 100 KB', 'long.bin'],
  ['a FIFO', 'pipe'],
  ['stdin', '-'],
]
const unwritable: Bad[] = [
  ['a missing folder', 'missing/folder/file'],
  ['a folder', 'a-folder'],
  ['a file for a folder', 'people.csv/file'],
  ['a link to itself', 'loop/file'],
  ['a name that is too long', 'n'.repeat(300)],
  ['a full disk', '/dev/full'],
]

const id = '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f'
const text: Kind = { right: 'x', wrong: [], takesText: true }
const number: Kind = { right: '1', wrong: wholeNumbers }
const url: Kind = { right: 'http://127.0.0.1:9', wrong: urls }
const uuid: Kind = { right: id, wrong: ids }
/** A placeholder, which a test replaces by the id of an existing batch. */
export const batchPlaceholder = '%batch%'
const batch: Kind = { right: batchPlaceholder, wrong: none('not-an-id', '{12345678}', 'abc', 'f'.repeat(37)) }
const email: Kind = {
  right: 'ana@example.com',
  wrong: none('nobody', 'ana@example.com\r\nBcc: all@example.com', `${'a'.repeat(260)}@example.com`),
  takesText: true,
}
const reads: Kind = { right: 'people.csv', wrong: [...unreadable, ...misread], takesText: true }
const writes: Kind = { right: 'out.file', wrong: unwritable, takesText: true }
const folder: Kind = {
  right: 'out',
  wrong: [
    ['a file for a folder', 'people.csv'],
    ['a file above it', 'people.csv/folder'],
    ['a link to itself', 'loop/folder'],
    ['a name that is too long', 'n'.repeat(300)],
  ],
  takesText: true,
}

/** Kinds of values, by the placeholder of the value in the help. */
export const kinds: Readonly<Record<string, Kind>> = {
  N: number,
  ID: number,
  PORT: { right: '0', wrong: [...wholeNumbers, ...none('65536')] },
  UUID: uuid,
  REQUEST_ID: uuid,
  BATCH_ID: batch,
  URL: url,
  SIGNED_URL: url,
  DURATION: { right: '1s', wrong: none('5 parsecs', '-1s', '1e3s', '1', 'NaNs', `${'9'.repeat(40)}d`) },
  DATE: {
    right: '2026-11-01',
    wrong: none('2026-02-30', '2026-13-01', '0000-00-00', 'yesterday', '1e9', '2026-11-01T25:00:00Z'),
  },
  HEX: { right: 'a'.repeat(64), wrong: none('g'.repeat(64), `sha256=${'a'.repeat(64)}`) },
  CC: { right: 'AU', wrong: none('ZZ', 'Australia') },
  EMAIL: email,
  'CALLS/SECONDS,…': { right: '60/60', wrong: none('1e3/60', '60', '-1/60', '60/0') },
  "'Given name=first_name'": { right: 'Given name=first_name', wrong: none('no mapping') },
  'CODE.NAME=VALUE': { right: 'code.name=value', wrong: none('no value', '=', '.=', '__proto__.x=1') },
  'NAME=CHOICE': { right: 'leaving-received=later', wrong: none('no-such-rule=later', '__proto__=x') },
  'A,B': { right: 'x', wrong: none('no_such_column', 'a,,b', ',') },
  EXPR: { right: '.', wrong: none('.[', '..|', 'nope', '"'), takesText: true },
  TEMPLATE: { right: '{check_id}', wrong: none('{nope}', '{', '{__proto__}'), takesText: true },
  JSON: {
    right: '{"kind":"hang"}',
    wrong: none('{', '[]', '{"status":"x"}', '{"__proto__":{"a":1}}', 'NaN'),
  },
  STATE: { right: 'held', wrong: none('no-such-state', 'held,') },
  STATUS: { right: 'COMPLETED', wrong: none('no-such-status') },
  COMMAND: { ...text, right: 'ping' },
  CIDR: { right: '172.16.0.0/12', wrong: none('1.2.3.4/33', '300.1.1.1/8', '::1/999') },
  DIR: folder,
  'DIR|FILE|-': folder,
  'FILE|:memory:': writes,
  CALLS: { ...text, right: 'POST /v1/requests' },
  COLUMN: text,
  HOST: text,
  NAME: text,
  NAMES: text,
  PATH: text,
  PHONE: text,
  ROLE: text,
  TEAM: text,
  TEXT: text,
  VALUE: text,
}

/** Kinds of the values of single flags, by the name of the flag. They take precedence over `kinds`. */
export const flagKinds: Readonly<Record<string, Kind>> = {
  profile: { right: 'work', wrong: none('..', '../x', 'x'.repeat(65), '__proto__ x', 'constructor') },
  sort: { right: 'x', wrong: none('no_such_column', '--', '-') },
  exec: { ...text, right: 'true' },
  'public-url': {
    right: 'https://api.example.com',
    wrong: urls.filter(([, each]) => !each.startsWith('http://')),
  },
}

/** Kinds of the values of flags with the placeholder FILE, by the name of the flag. */
export const fileKinds: Readonly<Record<string, Kind>> = {
  // Files that are read.
  plan: reads,
  fixture: reads,
  'tls-cert': reads,
  'tls-key': reads,
  'forward-ca': reads,
  'secret-file': reads,
  'stored-file': reads,
  events: reads,
  http: reads,
  har: reads,
  file: reads,
  // Files that are written.
  results: writes,
  errors: writes,
  output: writes,
  report: writes,
  html: writes,
  junit: writes,
  export: writes,
}

/** Kinds of the values of arguments, by the name of the argument. */
export const argumentKinds: Readonly<Record<string, Kind>> = {
  file: reads,
  package_id: number,
  request_id: uuid,
  check_id: uuid,
  batch_id: batch,
  id: number,
  duration: { right: '1s', wrong: none('5 parsecs', '-1s', '1e3s') },
  url,
  one: url,
  other: url,
  code: { right: 'ABCD-EFGH', wrong: none('no-code') },
  key: { right: 'output-dir', wrong: none('no-such-setting', 'constructor') },
  scenario: { right: 'declined', wrong: none('no-such-scenario', 'constructor') },
  story: { right: 'completed', wrong: none('no-such-story', 'constructor') },
  method: { right: 'GET', wrong: none('POST', 'DELETE', 'get\r\nX: y') },
  path: {
    right: '/v1/ping',
    wrong: none('//evil.example.com/v1', 'https://evil.example.com/', '/v1/../../x'),
  },
  shell: { right: 'bash', wrong: none('no-such-shell') },
  choice: { right: 'leaving-received=later', wrong: none('no-such-rule=later', '__proto__=x') },
  // Only a running sandbox can check the name of an event.
  event: text,
  from: { ...writes, right: 'from.sqlite' },
  to: { ...writes, right: 'to.sqlite' },
  name: text,
  value: text,
}
