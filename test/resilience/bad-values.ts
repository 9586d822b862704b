/** A description of an invalid or unusual value, and the value. */
type BadValue = readonly [what: string, value: string]

/** A kind of value that an argument or a flag accepts. */
export interface ValueKind {
  /** A valid value. */
  validValue: string
  /** Values that are invalid for this kind; `unusualValues` are tried with every kind in addition. */
  invalidValues: readonly BadValue[]
  /** Whether any text is valid, so that a command may accept `unusualValues`. */
  acceptsAnyText?: boolean
}

/** Texts that are not a valid number, date, address or id, but could be in a person's name. */
export const unusualValues: readonly BadValue[] = [
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

const createBadValues = (...values: readonly string[]): BadValue[] =>
  values.map((value) => [JSON.stringify(value), value])

const wholeNumbers = createBadValues(
  '1e3',
  '0x10',
  '12abc',
  '-1',
  '1.5',
  '+1',
  '٣',
  'NaN',
  'Infinity',
  '9'.repeat(40),
)
const ids = createBadValues(
  'not-an-id',
  '12345678-1234-1234-1234-12345678901',
  '{12345678-1234-1234-1234-123456789012}',
)
const urls = createBadValues(
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
const unreadablePaths: BadValue[] = [
  ['a missing file', 'missing.file'],
  ['a missing folder', 'missing/folder/file'],
  ['a folder', 'a-folder'],
  ['a file for a folder', 'people.csv/file'],
  ['a link to itself', 'loop'],
  ['a name that is too long', 'n'.repeat(300)],
]
/** Paths that can be read, but whose content is not valid for any command; `-` is stdin. */
const pathsWithBadContent: BadValue[] = [
  ['an empty file', 'empty.bin'],
  ['bytes that are not UTF-8', 'bytes.bin'],
  ['NULs', 'nul.bin'],
  ['a line of 100 KB', 'long.bin'],
  ['a FIFO', 'pipe'],
  ['stdin', '-'],
]
const unwritablePaths: BadValue[] = [
  ['a missing folder', 'missing/folder/file'],
  ['a folder', 'a-folder'],
  ['a file for a folder', 'people.csv/file'],
  ['a link to itself', 'loop/file'],
  ['a name that is too long', 'n'.repeat(300)],
  ['a full disk', '/dev/full'],
]

const id = '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f'
const text: ValueKind = { validValue: 'x', invalidValues: [], acceptsAnyText: true }
const number: ValueKind = { validValue: '1', invalidValues: wholeNumbers }
const url: ValueKind = { validValue: 'http://127.0.0.1:9', invalidValues: urls }
const uuid: ValueKind = { validValue: id, invalidValues: ids }
/** A placeholder, which a test replaces by the id of an existing batch. */
export const batchPlaceholder = '%batch%'
const batch: ValueKind = {
  validValue: batchPlaceholder,
  invalidValues: createBadValues('not-an-id', '{12345678}', 'abc', 'f'.repeat(37)),
}
const email: ValueKind = {
  validValue: 'ana@example.com',
  invalidValues: createBadValues(
    'nobody',
    'ana@example.com\r\nBcc: all@example.com',
    `${'a'.repeat(260)}@example.com`,
  ),
  acceptsAnyText: true,
}
const fileToRead: ValueKind = {
  validValue: 'people.csv',
  invalidValues: [...unreadablePaths, ...pathsWithBadContent],
  acceptsAnyText: true,
}
const fileToWrite: ValueKind = {
  validValue: 'out.file',
  invalidValues: unwritablePaths,
  acceptsAnyText: true,
}
const folder: ValueKind = {
  validValue: 'out',
  invalidValues: [
    ['a file for a folder', 'people.csv'],
    ['a file above it', 'people.csv/folder'],
    ['a link to itself', 'loop/folder'],
    ['a name that is too long', 'n'.repeat(300)],
  ],
  acceptsAnyText: true,
}

/** Kinds of values, by the placeholder of the value in the help. */
export const kinds: Readonly<Record<string, ValueKind>> = {
  N: number,
  ID: number,
  PORT: { validValue: '0', invalidValues: [...wholeNumbers, ...createBadValues('65536')] },
  UUID: uuid,
  REQUEST_ID: uuid,
  BATCH_ID: batch,
  URL: url,
  SIGNED_URL: url,
  DURATION: {
    validValue: '1s',
    invalidValues: createBadValues('5 parsecs', '-1s', '1e3s', '1', 'NaNs', `${'9'.repeat(40)}d`),
  },
  DATE: {
    validValue: '2026-11-01',
    invalidValues: createBadValues(
      '2026-02-30',
      '2026-13-01',
      '0000-00-00',
      'yesterday',
      '1e9',
      '2026-11-01T25:00:00Z',
    ),
  },
  HEX: {
    validValue: 'a'.repeat(64),
    invalidValues: createBadValues('g'.repeat(64), `sha256=${'a'.repeat(64)}`),
  },
  CC: { validValue: 'AU', invalidValues: createBadValues('ZZ', 'Australia') },
  EMAIL: email,
  'CALLS/SECONDS,…': { validValue: '60/60', invalidValues: createBadValues('1e3/60', '60', '-1/60', '60/0') },
  "'Given name=first_name'": {
    validValue: 'Given name=first_name',
    invalidValues: createBadValues('no mapping'),
  },
  'CODE.NAME=VALUE': {
    validValue: 'code.name=value',
    invalidValues: createBadValues('no value', '=', '.=', '__proto__.x=1'),
  },
  'NAME=CHOICE': {
    validValue: 'leaving-received=later',
    invalidValues: createBadValues('no-such-rule=later', '__proto__=x'),
  },
  'A,B': { validValue: 'x', invalidValues: createBadValues('no_such_column', 'a,,b', ',') },
  EXPR: { validValue: '.', invalidValues: createBadValues('.[', '..|', 'nope', '"'), acceptsAnyText: true },
  TEMPLATE: {
    validValue: '{check_id}',
    invalidValues: createBadValues('{nope}', '{', '{__proto__}'),
    acceptsAnyText: true,
  },
  JSON: {
    validValue: '{"kind":"hang"}',
    invalidValues: createBadValues('{', '[]', '{"status":"x"}', '{"__proto__":{"a":1}}', 'NaN'),
  },
  STATE: { validValue: 'held', invalidValues: createBadValues('no-such-state', 'held,') },
  STATUS: { validValue: 'COMPLETED', invalidValues: createBadValues('no-such-status') },
  COMMAND: { ...text, validValue: 'ping' },
  CIDR: {
    validValue: '172.16.0.0/12',
    invalidValues: createBadValues('1.2.3.4/33', '300.1.1.1/8', '::1/999'),
  },
  DIR: folder,
  'DIR|FILE|-': folder,
  'FILE|:memory:': fileToWrite,
  CALLS: { ...text, validValue: 'POST /v1/requests' },
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
export const flagKinds: Readonly<Record<string, ValueKind>> = {
  profile: {
    validValue: 'work',
    invalidValues: createBadValues('..', '../x', 'x'.repeat(65), '__proto__ x', 'constructor'),
  },
  sort: { validValue: 'x', invalidValues: createBadValues('no_such_column', '--', '-') },
  exec: { ...text, validValue: 'true' },
  'public-url': {
    validValue: 'https://api.example.com',
    invalidValues: urls.filter(([, each]) => !each.startsWith('http://')),
  },
}

/** Kinds of the values of flags with the placeholder FILE, by the name of the flag. */
export const fileKinds: Readonly<Record<string, ValueKind>> = {
  // Files that are read.
  plan: fileToRead,
  fixture: fileToRead,
  'tls-cert': fileToRead,
  'tls-key': fileToRead,
  'forward-ca': fileToRead,
  'secret-file': fileToRead,
  'stored-file': fileToRead,
  events: fileToRead,
  http: fileToRead,
  har: fileToRead,
  file: fileToRead,
  // Files that are written.
  results: fileToWrite,
  errors: fileToWrite,
  output: fileToWrite,
  report: fileToWrite,
  html: fileToWrite,
  junit: fileToWrite,
  export: fileToWrite,
}

/** Kinds of the values of arguments, by the name of the argument. */
export const argumentKinds: Readonly<Record<string, ValueKind>> = {
  file: fileToRead,
  package_id: number,
  request_id: uuid,
  check_id: uuid,
  batch_id: batch,
  id: number,
  duration: { validValue: '1s', invalidValues: createBadValues('5 parsecs', '-1s', '1e3s') },
  url,
  one: url,
  other: url,
  code: { validValue: 'ABCD-EFGH', invalidValues: createBadValues('no-code') },
  key: { validValue: 'output-dir', invalidValues: createBadValues('no-such-setting', 'constructor') },
  scenario: { validValue: 'declined', invalidValues: createBadValues('no-such-scenario', 'constructor') },
  story: { validValue: 'completed', invalidValues: createBadValues('no-such-story', 'constructor') },
  method: { validValue: 'GET', invalidValues: createBadValues('POST', 'DELETE', 'get\r\nX: y') },
  path: {
    validValue: '/v1/ping',
    invalidValues: createBadValues('//evil.example.com/v1', 'https://evil.example.com/', '/v1/../../x'),
  },
  shell: { validValue: 'bash', invalidValues: createBadValues('no-such-shell') },
  choice: {
    validValue: 'leaving-received=later',
    invalidValues: createBadValues('no-such-rule=later', '__proto__=x'),
  },
  // Only a running sandbox can check the name of an event.
  event: text,
  from: { ...fileToWrite, validValue: 'from.sqlite' },
  to: { ...fileToWrite, validValue: 'to.sqlite' },
  name: text,
  value: text,
}
