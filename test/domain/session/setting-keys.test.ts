import { expect, test } from 'vitest'

import { settingDefinition, settingDefinitions } from '../../../src/domain/session/setting-keys.ts'

test('each setting has a meaning of one line', () => {
  expect(settingDefinitions.map(({ key, meaning }) => `${key}: ${meaning}`)).toMatchInlineSnapshot(`
    [
      "package: Package to order",
      "output-dir: Folder for reports",
      "store: Where orders are recorded: a file, or postgres://…",
      "account: Whose people these are, where one store serves several organisations",
      "concurrency: Number of downloads at a time, 1 to 64",
      "timeout: Longest total wait for retries and quota",
      "encoding: Encoding of batch files that are not UTF-8",
      "default-country: Country of phone numbers without a country code",
      "retention: How long personal data of what ended is kept; store purge or a worker removes it: 365d, 24mo, 7y",
    ]
  `)
})

test.each(settingDefinitions.map((each) => [each.key, each.example]))(
  '%s accepts its example, %s',
  (key, value) => {
    expect(settingDefinition(key).parse(value)).toBe(value)
  },
)

test.each([
  ['package', '1'],
  ['concurrency', '64'],
  ['timeout', '500ms'],
  ['timeout', '1m30s'],
  ['timeout', '0s'],
  ['store', ':memory:'],
  ['store', '/var/lib/refcheck/orders.db'],
  ['store', 'postgres://ledger@db.example.com:5432/refcheck?sslmode=verify-full'],
  ['store', 'postgresql://ledger@/refcheck?host=/run/postgresql'],
  ['output-dir', './with space/größe'],
])('%s accepts %s', (key, value) => {
  expect(settingDefinition(key).parse(value)).toBe(value)
})

test('an account is stored without spaces around it and in lower case', () => {
  expect(settingDefinition('account').parse(' Acme.Pty_Ltd-1 ')).toBe('acme.pty_ltd-1')
})

test('a country code is stored in upper case', () => {
  expect(settingDefinition('default-country').parse('au')).toBe('AU')
})

test.each([
  ['account', ''],
  ['account', 'Acme Ltd'],
  ['account', 'größe'],
  ['account', 'a'.repeat(65)],
  ['package', '0'],
  ['package', '-1'],
  ['package', '1e3'],
  ['package', '0x10'],
  ['package', '12abc'],
  ['package', ' 12'],
  ['package', '012'],
  ['package', ''],
  ['package', '9'.repeat(40)],
  ['concurrency', '0'],
  ['concurrency', '65'],
  ['concurrency', '2.5'],
  ['concurrency', 'NaN'],
  ['timeout', '30'],
  ['timeout', '-5s'],
  ['timeout', '5 m'],
  ['timeout', '2weeks'],
  ['timeout', ''],
  ['timeout', '1s'.repeat(21)],
  ['output-dir', ''],
  ['output-dir', '  '],
  ['output-dir', 'a\0b'],
  ['output-dir', 'a\nb'],
  ['store', ''],
  ['store', 'postgres://[broken'],
  ['default-country', 'A'],
  ['default-country', 'AUS'],
  ['default-country', 'XX'],
  ['default-country', 'ZZ'],
  ['default-country', '61'],
])('%s refuses %j', (key, value) => {
  expect(() => settingDefinition(key).parse(value)).toThrow(
    expect.objectContaining({ code: 'invalid_input', field: key, hint: expect.stringMatching(/./) }),
  )
})

test('the error for an invalid value has the allowed values and an example', () => {
  expect(() => settingDefinition('concurrency').parse('many')).toThrow(
    expect.objectContaining({
      message: 'concurrency: "many" is not a whole number from 1 to 64',
      hint: 'For example: refcheck config set concurrency 4',
    }),
  )
})

test.each([
  'postgres://ledger:hunter2@localhost/refcheck',
  'postgresql://u@localhost/refcheck?password=hunter2',
])('a store address with a password is refused, and the password is not in the error (%#)', (address) => {
  expect(() => settingDefinition('store').parse(address)).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      message: 'store: passwords are refused in the settings',
      hint: expect.not.stringContaining('hunter2'),
    }),
  )
})

test('the error for an unknown setting lists the settings', () => {
  expect(() => settingDefinition('__proto__')).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'no setting named "__proto__"',
      hint: 'Settings: package, output-dir, store, account, concurrency, timeout, encoding, default-country, retention',
    }),
  )
})
