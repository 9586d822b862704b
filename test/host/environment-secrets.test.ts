import { expect, test } from 'vitest'

import { childEnvironment, secretsOf } from '../../src/host/secrets.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `children` of the fault table (test/resilience/rows.ts).
recordForFaultTable('children', { mustNotHappen: 'keys passed on' })

const createChildEnvironment = (env: Record<string, string>) => childEnvironment(env, secretsOf(env))

test('a program that refcheck starts gets the environment without keys, secrets, tokens and passwords', () => {
  const env = {
    PATH: '/bin',
    REFCHECK_PROFILE: 'work',
    REFCHECK_API_KEY: 'k',
    REFCHECK_FOREIGN_API_KEY: 'f',
    REFCHECK_WORK_API_KEY_OLD: 'o',
    REFCHECK_WEBHOOK_SECRET: 's',
    WORK_WEBHOOK_SECRET: 'w',
    REFCHECK_SANDBOX_TOKEN: 't',
    PGPASSWORD: 'p',
    REFCHECK_STORE: 'postgres://hr:se:cr@et@db.example.com/refcheck?sslmode=verify-full',
  }
  expect(createChildEnvironment(env)).toEqual({
    PATH: '/bin',
    REFCHECK_PROFILE: 'work',
    REFCHECK_STORE: 'postgres://hr@db.example.com/refcheck?sslmode=verify-full',
  })
})

test('a variable of any name that contains a secret in any encoding is removed', () => {
  const secret = 'whsec/0123456789+abc'
  const env = {
    REFCHECK_WEBHOOK_SECRET: secret,
    REFCHECK_STORE: 'postgres://hr:pass-w%2Frd1@db/refcheck',
    COPY: secret,
    [secret]: '1',
    LINE: `secret=${encodeURIComponent(secret)} #`,
    SETTINGS: JSON.stringify({ secret }).replaceAll('/', '\\/'),
    DATABASE_URL: 'postgres://hr:pass-w/rd1@db/other',
    HOME: '/home/hr',
  }
  expect(createChildEnvironment(env)).toEqual({
    REFCHECK_STORE: 'postgres://hr@db/refcheck',
    HOME: '/home/hr',
  })
})

test.each([
  ['PGPASSWORD', 'letmeinplease'],
  ['REFCHECK_WEBHOOK_SECRET', 'fifteenletterss'],
  ['REFCHECK_API_KEY', 'deadbeef12'],
  ['REFCHECK_SANDBOX_TOKEN', 'sesame'],
])('a variable that contains a short or simple secret in any encoding is removed: %s=%s', (name, secret) => {
  const bytes = Buffer.from(secret)
  const env = {
    [name]: secret,
    DBURL: `postgres://u:${secret}@h`,
    BASE64: bytes.toString('base64'),
    BASE64URL: Buffer.from(`é?>${secret}`).toString('base64url'),
    BASIC: Buffer.from(`user:${secret}`).toString('base64'),
    HEX: bytes.toString('hex'),
    CAPITALS: `x${bytes.toString('hex').toUpperCase()}`,
    HOME: '/home/hr',
  }
  expect(createChildEnvironment(env)).toEqual({ HOME: '/home/hr' })
})

test('a password that is an ordinary word does not remove variables by which a program finds its files, store and profile', () => {
  const env = { PATH: '/opt/refcheck/bin', HOME: '/home/refcheck', REFCHECK_PROFILE: 'refcheck-hr' }
  const childEnv = childEnvironment({ ...env, PGPASSWORD: 'refcheck' }, secretsOf({ PGPASSWORD: 'refcheck' }))
  expect(childEnv).toEqual(env)
})

test('a store address whose password is an ordinary word loses only the password, so that the program uses the same store', () => {
  expect(createChildEnvironment({ REFCHECK_STORE: 'postgres://refcheck:refcheck@db/refcheck' })).toEqual({
    REFCHECK_STORE: 'postgres://refcheck@db/refcheck',
  })
})

test('a token in place of the user name of a proxy is treated as a secret', () => {
  const env = { HTTPS_PROXY: 'http://px-0123456789abcdef@proxy', COPY: 'px-0123456789abcdef' }
  expect(createChildEnvironment(env)).toEqual({ HTTPS_PROXY: 'http://proxy' })
  expect(secretsOf(env).redact('px-0123456789abcdef')).toBe('[proxy password]')
  expect(
    secretsOf({ HTTPS_PROXY: 'http://hr.operator%40example.com:pass-word@proxy' }).redact(
      'hr.operator@example.com',
    ),
  ).toBe('hr.operator@example.com')
})

test.each([
  ['HTTPS_PROXY', 'http://gate:pass-w@rd@proxy.example.com:3128', 'http://proxy.example.com:3128'],
  ['https_proxy', 'gate:pass-word@proxy.example.com:3128', 'proxy.example.com:3128'],
  ['HTTP_PROXY', 'https://gate:@proxy.example.com', 'https://proxy.example.com'],
  ['http_proxy', 'http://gate@proxy.example.com', 'http://proxy.example.com'],
  ['ALL_PROXY', 'socks5://gate:pass-word@proxy.example.com', 'socks5://proxy.example.com'],
  ['npm_config_proxy', 'http://gate:pass-word@proxy.example.com', 'http://proxy.example.com'],
  ['HTTPS_PROXY', ' http://gate:pass-word@proxy.example.com', ' http://proxy.example.com'],
  ['HTTPS_PROXY', '"http://gate:pass-word@proxy.example.com"', '"http://proxy.example.com"'],
  ['REFCHECK_STORE', ' postgres://hr:pass-word@db/refcheck', ' postgres://hr@db/refcheck'],
  ['REFCHECK_STORE', `'postgresql://hr:pass-word@db/refcheck'`, `'postgresql://hr@db/refcheck'`],
  ['NO_PROXY', 'localhost,127.0.0.1', 'localhost,127.0.0.1'],
  [
    'REFCHECK_STORE',
    'postgres://hr@/refcheck?password=pass-word&host=/run',
    'postgres://hr@/refcheck?password=&host=/run',
  ],
  ['REFCHECK_STORE', '/var/lib/refcheck/ledger.sqlite', '/var/lib/refcheck/ledger.sqlite'],
  ['REFCHECK_STORE', 'odd:name@file.sqlite', 'odd:name@file.sqlite'],
  ['REFCHECK_STORE', 'postgres://hr@db/refcheck', 'postgres://hr@db/refcheck'],
  ['REFCHECK_STORE', ':memory:', ':memory:'],
])('%s keeps its address without the credentials: %s', (name, value, expected) => {
  expect(createChildEnvironment({ [name]: value })).toEqual({ [name]: expected })
})

test.each([
  ['HTTPS_PROXY', 'http://proxy.example.com/?k=', 'http://proxy.example.com/?k=[API key]'],
  ['all_proxy', 'http://user:pass-word@proxy.example.com/#', 'http://proxy.example.com/#[API key]'],
  ['NO_PROXY', 'localhost,', 'localhost,[API key]'],
  ['REFCHECK_STORE', 'postgres://hr@db/refcheck?options=', 'postgres://hr@db/refcheck?options=[API key]'],
])('other secrets in an address are masked: %s', (name, prefix, expected) => {
  const key = 'EqQm4LRGWP4mk2aEguhezNLhRkBuyRra'
  for (const encodedKey of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')]) {
    expect(
      createChildEnvironment({ REFCHECK_API_KEY: key, [name]: prefix + encodedKey })[name]?.replace(
        /=+$/,
        '',
      ),
    ).toBe(expected)
  }
})

test('passwords of the environment are masked in the forms in which they are sent', () => {
  const secrets = secretsOf({ HTTPS_PROXY: 'http://gate:pass%2Fw0rd@proxy:3128' })
  const basic = Buffer.from('gate:pass/w0rd').toString('base64')
  expect(secrets.redact(`pass%2Fw0rd pass/w0rd Basic ${basic}`)).toBe(
    '[proxy password] [proxy password] Basic [proxy password]',
  )
})
