import { expect, test } from 'vitest'

import { childEnvironment, secretsOf } from '../../src/host/secrets.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('children', 'keys handed on')

const childOf = (env: Record<string, string>) => childEnvironment(env, secretsOf(env))

test('a program that we start gets the environment without keys, secrets, tokens and passwords', () => {
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
  expect(childOf(env)).toEqual({
    PATH: '/bin',
    REFCHECK_PROFILE: 'work',
    REFCHECK_STORE: 'postgres://hr@db.example.com/refcheck?sslmode=verify-full',
  })
})

test('a variable of any name that holds one of the secrets is left out, in any encoding', () => {
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
  expect(childOf(env)).toEqual({ REFCHECK_STORE: 'postgres://hr@db/refcheck', HOME: '/home/hr' })
})

test.each([
  ['PGPASSWORD', 'letmeinplease'],
  ['REFCHECK_WEBHOOK_SECRET', 'fifteenletterss'],
  ['REFCHECK_API_KEY', 'deadbeef12'],
  ['REFCHECK_SANDBOX_TOKEN', 'sesame'],
])('a variable that holds a short or plain secret is left out, in any encoding: %s=%s', (name, secret) => {
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
  expect(childOf(env)).toEqual({ HOME: '/home/hr' })
})

test('a password that is an ordinary word takes no variable away by which a program finds its files, store and profile', () => {
  const env = { PATH: '/opt/refcheck/bin', HOME: '/home/refcheck', REFCHECK_PROFILE: 'refcheck-hr' }
  const left = childEnvironment({ ...env, PGPASSWORD: 'refcheck' }, secretsOf({ PGPASSWORD: 'refcheck' }))
  expect(left).toEqual(env)
})

test('a plain password leaves the address of the store, so that the program uses the same one', () => {
  expect(childOf({ REFCHECK_STORE: 'postgres://refcheck:refcheck@db/refcheck' })).toEqual({
    REFCHECK_STORE: 'postgres://refcheck@db/refcheck',
  })
})

test('a token in place of the user of a proxy is known', () => {
  const env = { HTTPS_PROXY: 'http://px-0123456789abcdef@proxy', COPY: 'px-0123456789abcdef' }
  expect(childOf(env)).toEqual({ HTTPS_PROXY: 'http://proxy' })
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
])('%s keeps its address: %s', (name, value, expected) => {
  expect(childOf({ [name]: value })).toEqual({ [name]: expected })
})

test.each([
  ['HTTPS_PROXY', 'http://proxy.example.com/?k=', 'http://proxy.example.com/?k=[API key]'],
  ['all_proxy', 'http://user:pass-word@proxy.example.com/#', 'http://proxy.example.com/#[API key]'],
  ['NO_PROXY', 'localhost,', 'localhost,[API key]'],
  ['REFCHECK_STORE', 'postgres://hr@db/refcheck?options=', 'postgres://hr@db/refcheck?options=[API key]'],
])('an address loses any other secret in it: %s', (name, before, expected) => {
  const key = 'EqQm4LRGWP4mk2aEguhezNLhRkBuyRra'
  for (const each of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')]) {
    expect(childOf({ REFCHECK_API_KEY: key, [name]: before + each })[name]?.replace(/=+$/, '')).toBe(expected)
  }
})

test('passwords of the environment are known in the forms in which they are sent', () => {
  const secrets = secretsOf({ HTTPS_PROXY: 'http://gate:pass%2Fw0rd@proxy:3128' })
  const basic = Buffer.from('gate:pass/w0rd').toString('base64')
  expect(secrets.redact(`pass%2Fw0rd pass/w0rd Basic ${basic}`)).toBe(
    '[proxy password] [proxy password] Basic [proxy password]',
  )
})
