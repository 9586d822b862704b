import { expect, test } from 'vitest'

import { resolveBaseUrl, resolveSession } from '../../../src/usecases/session/resolve.ts'
import { openHome, key, otherKey, untouchable } from './setup.ts'

const work = 'https://work.example.com'
const home = 'https://home.example.com'
const env = {
  REFCHECK_BASE_URL: 'https://env.example.com/',
  REFCHECK_API_KEY: otherKey,
  REFCHECK_USER_EMAIL: 'env@example.com',
}

test('with all three variables in the environment no profile and no file is read', async () => {
  expect(await resolveSession({ env: { ...env, REFCHECK_PROFILE: 'nobody' }, ...untouchable })).toEqual({
    baseUrl: 'https://env.example.com',
    apiKey: otherKey,
    email: 'env@example.com',
    profile: undefined,
    keyFrom: 'environment',
  })
})

test('without variables the session is that of the current profile, with the storage of its key', async () => {
  using opened = openHome()
  await opened.add('home', home, otherKey)
  await opened.add('work', work, key)
  expect(await resolveSession({ env: {}, ...opened })).toEqual({
    baseUrl: work,
    apiKey: key,
    email: 'ana@example.com',
    profile: 'work',
    keyFrom: 'file',
  })
})

test('REFCHECK_PROFILE overrides the current profile, and --profile overrides both', async () => {
  using opened = openHome()
  await opened.add('home', home, otherKey)
  await opened.add('work', work, key)
  await opened.add('third', work, key)
  const chosen = { env: { REFCHECK_PROFILE: 'home' }, ...opened }
  expect(await resolveSession(chosen)).toMatchObject({ profile: 'home', baseUrl: home, apiKey: otherKey })
  expect(await resolveSession({ ...chosen, profile: 'work' })).toMatchObject({ profile: 'work', apiKey: key })
})

test('with --profile all three values come from the profile and not from the environment', async () => {
  using opened = openHome()
  await opened.add('work', work, key)
  const session = await resolveSession({ profile: 'work', env, ...opened })
  expect(session).toMatchObject({ baseUrl: work, apiKey: key, email: 'ana@example.com', keyFrom: 'file' })
  const broken = { REFCHECK_BASE_URL: 'nonsense', REFCHECK_API_KEY: 'short', REFCHECK_USER_EMAIL: '@' }
  expect(await resolveSession({ profile: 'work', env: broken, ...opened })).toEqual(session)
})

test('each variable of the environment overrides its value of the profile', async () => {
  using opened = openHome()
  await opened.add('work', work, key)
  expect(await resolveSession({ env: { REFCHECK_USER_EMAIL: 'env@example.com' }, ...opened })).toEqual({
    baseUrl: work,
    apiKey: key,
    email: 'env@example.com',
    profile: 'work',
    keyFrom: 'file',
  })
  expect(await resolveSession({ env: { REFCHECK_API_KEY: `${otherKey}\n` }, ...opened })).toMatchObject({
    baseUrl: work,
    apiKey: otherKey,
    keyFrom: 'environment',
  })
})

test('an empty variable counts as unset', async () => {
  using opened = openHome()
  await opened.add('work', work, key)
  const empty = { REFCHECK_PROFILE: '', REFCHECK_BASE_URL: '', REFCHECK_API_KEY: '', REFCHECK_USER_EMAIL: '' }
  expect(await resolveSession({ env: empty, ...opened })).toMatchObject({ profile: 'work', apiKey: key })
})

test('a stored key is never sent to another origin, even if REFCHECK_BASE_URL names it', async () => {
  using opened = openHome()
  await opened.add('work', work, key)
  for (const elsewhere of ['https://evil.example', `${work}:8443`, 'http://127.0.0.1:4010']) {
    const failure: unknown = await resolveSession({ env: { REFCHECK_BASE_URL: elsewhere }, ...opened }).catch(
      (error: unknown) => error,
    )
    expect(failure).toMatchObject({
      code: 'usage',
      message: `REFCHECK_BASE_URL is ${elsewhere}, but the key of profile "work" is for ${work}`,
      hint: 'Set REFCHECK_API_KEY and REFCHECK_USER_EMAIL as well, or unset REFCHECK_BASE_URL.',
    })
    expect(String(failure)).not.toContain(key)
  }
  const path = { REFCHECK_BASE_URL: `${work}/checks` }
  expect(await resolveSession({ env: path, ...opened })).toMatchObject({
    baseUrl: `${work}/checks`,
    apiKey: key,
  })
})

test('a stored key is not used if the base URL of its profile was changed afterwards', async () => {
  using opened = openHome()
  await opened.add('work', work, key)
  await opened.settings.saveProfile(
    'work',
    { baseUrl: 'https://evil.example', userEmail: 'ana@example.com' },
    { makeCurrent: true },
  )
  for (const profile of [undefined, 'work']) {
    await expect(resolveSession({ profile, env: {}, ...opened })).rejects.toMatchObject({
      code: 'usage',
      message: `profile "work" has the base URL https://evil.example, but its key was saved for ${work}`,
      hint: 'Log in again with: refcheck auth login --profile work --base-url https://evil.example',
    })
  }
})

test('without a login the error is unauthenticated, with the command for it', async () => {
  using opened = openHome()
  await expect(resolveSession({ env: {}, ...opened })).rejects.toMatchObject({
    code: 'unauthenticated',
    message: 'you are not logged in',
    hint: 'Log in with: refcheck auth login\nIn a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead.',
  })
  expect(opened.files()).toEqual([null, null])
})

test('with only a key in the environment the error names the missing value', async () => {
  using opened = openHome()
  await expect(resolveSession({ env: { REFCHECK_API_KEY: key }, ...opened })).rejects.toMatchObject({
    code: 'usage',
    message: 'the base URL is missing',
  })
  const two = { REFCHECK_API_KEY: key, REFCHECK_BASE_URL: work }
  await expect(resolveSession({ env: two, ...opened })).rejects.toMatchObject({
    code: 'usage',
    message: 'the user e-mail is missing',
    hint: 'Set REFCHECK_USER_EMAIL, or log in with: refcheck auth login',
  })
})

test('a profile without a key is unauthenticated, unless the environment has a key', async () => {
  using opened = openHome()
  await opened.add('work', work)
  const noKey = {
    code: 'unauthenticated',
    message: 'profile "work" has no API key',
    hint: expect.stringMatching(/refcheck auth login --profile work/),
  }
  await expect(resolveSession({ env: {}, ...opened })).rejects.toMatchObject(noKey)
  await expect(resolveSession({ profile: 'work', env: {}, ...opened })).rejects.toMatchObject(noKey)
  const named = { profile: 'work', ...opened }
  expect(await resolveSession({ ...named, env: { REFCHECK_API_KEY: otherKey } })).toMatchObject({
    baseUrl: work,
    apiKey: otherKey,
    keyFrom: 'environment',
  })
  await expect(resolveSession({ ...named, env })).rejects.toMatchObject(noKey)
})

test('the error for an unknown profile names the profiles', async () => {
  using opened = openHome()
  await expect(resolveSession({ profile: 'wrok', env: {}, ...opened })).rejects.toMatchObject({
    code: 'usage',
    message: 'no profile named "wrok"',
    hint: 'Log in with: refcheck auth login',
  })
  await opened.add('work', work, key)
  await opened.add('home', home, otherKey)
  const unknown = {
    code: 'usage',
    message: 'no profile named "wrok"',
    hint: 'Profiles: work, home',
  }
  await expect(resolveSession({ profile: 'wrok', env, ...opened })).rejects.toMatchObject(unknown)
  await expect(resolveSession({ env: { REFCHECK_PROFILE: 'wrok' }, ...opened })).rejects.toMatchObject(
    unknown,
  )
  await expect(resolveBaseUrl({ profile: 'wrok', env: {}, ...opened })).rejects.toMatchObject(unknown)
})

test.each(['', '..', 'a.b', '__proto__', 'x'.repeat(65)])(
  '--profile %j is refused as a name',
  async (profile) => {
    using opened = openHome()
    await expect(resolveSession({ profile, env, ...opened })).rejects.toMatchObject({ code: 'invalid_input' })
  },
)

test.each([
  [
    'REFCHECK_BASE_URL',
    'http://api.example.com',
    /^REFCHECK_BASE_URL would call api\.example\.com unencrypted/,
  ],
  ['REFCHECK_API_KEY', 'tooshort', /^REFCHECK_API_KEY has 8 characters instead of 32$/],
  ['REFCHECK_USER_EMAIL', 'a@b.example\r\nX: y', /^REFCHECK_USER_EMAIL contains a line break/],
])('the error for an invalid %s contains its name', async (name, value, message) => {
  await expect(resolveSession({ env: { ...env, [name]: value }, ...untouchable })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(message),
  })
})

test('invalid values in the files are refused and not quoted', async () => {
  using opened = openHome()
  await opened.add('work', 'http://work.example.com', key)
  await expect(resolveSession({ env: {}, ...opened })).rejects.toThrow(
    /^the base URL of profile "work" would call work\.example\.com unencrypted/,
  )
  await opened.add('home', home, 'mistyped', 'no-address')
  await expect(resolveSession({ env: {}, ...opened })).rejects.toThrow(
    'the e-mail of profile "home" is not valid',
  )
  await expect(
    resolveSession({ env: { REFCHECK_USER_EMAIL: 'ana@example.com' }, ...opened }),
  ).rejects.toThrow('the kept API key of profile "home" has 8 characters instead of 32')
})

test('the base URL alone needs no key: --profile, then the environment, then the current profile', async () => {
  using opened = openHome()
  await expect(resolveBaseUrl({ env: {}, settings: opened.settings })).rejects.toMatchObject({
    code: 'usage',
    message: 'the base URL is missing',
    hint: 'Log in with: refcheck auth login\nIn a script, set REFCHECK_BASE_URL instead.',
  })
  expect(await resolveBaseUrl({ env, settings: untouchable.settings })).toBe('https://env.example.com')
  await opened.add('work', work)
  expect(await resolveBaseUrl({ env: {}, settings: opened.settings })).toBe(work)
  expect(await resolveBaseUrl({ env, settings: opened.settings })).toBe('https://env.example.com')
  expect(await resolveBaseUrl({ profile: 'work', env, settings: opened.settings })).toBe(work)
  await expect(
    resolveBaseUrl({ env: { REFCHECK_BASE_URL: 'nonsense' }, settings: opened.settings }),
  ).rejects.toThrow('REFCHECK_BASE_URL does not start with https://')
})
