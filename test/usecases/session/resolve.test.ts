import { expect, test } from 'vitest'

import { resolveBaseUrl, resolveSession } from '../../../src/usecases/session/resolve.ts'
import { openHome, key, otherKey, untouchable } from './setup.ts'

const workUrl = 'https://work.example.com'
const homeUrl = 'https://home.example.com'
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
  using openedHome = openHome()
  await openedHome.add('home', homeUrl, otherKey)
  await openedHome.add('work', workUrl, key)
  expect(await resolveSession({ env: {}, ...openedHome })).toEqual({
    baseUrl: workUrl,
    apiKey: key,
    email: 'ana@example.com',
    profile: 'work',
    keyFrom: 'file',
  })
})

test('REFCHECK_PROFILE overrides the current profile, and --profile overrides both', async () => {
  using openedHome = openHome()
  await openedHome.add('home', homeUrl, otherKey)
  await openedHome.add('work', workUrl, key)
  await openedHome.add('third', workUrl, key)
  const chosen = { env: { REFCHECK_PROFILE: 'home' }, ...openedHome }
  expect(await resolveSession(chosen)).toMatchObject({ profile: 'home', baseUrl: homeUrl, apiKey: otherKey })
  expect(await resolveSession({ ...chosen, profile: 'work' })).toMatchObject({ profile: 'work', apiKey: key })
})

test('with --profile all three values come from the profile and not from the environment', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  const session = await resolveSession({ profile: 'work', env, ...openedHome })
  expect(session).toMatchObject({ baseUrl: workUrl, apiKey: key, email: 'ana@example.com', keyFrom: 'file' })
  const invalidEnv = { REFCHECK_BASE_URL: 'nonsense', REFCHECK_API_KEY: 'short', REFCHECK_USER_EMAIL: '@' }
  expect(await resolveSession({ profile: 'work', env: invalidEnv, ...openedHome })).toEqual(session)
})

test('each variable of the environment overrides its value of the profile', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  expect(await resolveSession({ env: { REFCHECK_USER_EMAIL: 'env@example.com' }, ...openedHome })).toEqual({
    baseUrl: workUrl,
    apiKey: key,
    email: 'env@example.com',
    profile: 'work',
    keyFrom: 'file',
  })
  expect(await resolveSession({ env: { REFCHECK_API_KEY: `${otherKey}\n` }, ...openedHome })).toMatchObject({
    baseUrl: workUrl,
    apiKey: otherKey,
    keyFrom: 'environment',
  })
})

test('an empty variable counts as unset', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  const empty = { REFCHECK_PROFILE: '', REFCHECK_BASE_URL: '', REFCHECK_API_KEY: '', REFCHECK_USER_EMAIL: '' }
  expect(await resolveSession({ env: empty, ...openedHome })).toMatchObject({ profile: 'work', apiKey: key })
})

test('a stored key is never sent to another origin, even if REFCHECK_BASE_URL names it', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  for (const elsewhere of ['https://evil.example', `${workUrl}:8443`, 'http://127.0.0.1:4010']) {
    const failure: unknown = await resolveSession({
      env: { REFCHECK_BASE_URL: elsewhere },
      ...openedHome,
    }).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      code: 'usage',
      message: `REFCHECK_BASE_URL is ${elsewhere}, but the key of profile "work" is for ${workUrl}`,
      hint: 'Set REFCHECK_API_KEY and REFCHECK_USER_EMAIL as well, or unset REFCHECK_BASE_URL.',
    })
    expect(String(failure)).not.toContain(key)
  }
  const path = { REFCHECK_BASE_URL: `${workUrl}/checks` }
  expect(await resolveSession({ env: path, ...openedHome })).toMatchObject({
    baseUrl: `${workUrl}/checks`,
    apiKey: key,
  })
})

test('a stored key is not used if the base URL of its profile was changed afterwards', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl, key)
  await openedHome.settings.saveProfile(
    'work',
    { baseUrl: 'https://evil.example', userEmail: 'ana@example.com' },
    { makeCurrent: true },
  )
  for (const profile of [undefined, 'work']) {
    await expect(resolveSession({ profile, env: {}, ...openedHome })).rejects.toMatchObject({
      code: 'usage',
      message: `profile "work" has the base URL https://evil.example, but its key was saved for ${workUrl}`,
      hint: 'Log in again with: refcheck auth login --profile work --base-url https://evil.example',
    })
  }
})

test('without a login the error is unauthenticated, with the command for it', async () => {
  using openedHome = openHome()
  await expect(resolveSession({ env: {}, ...openedHome })).rejects.toMatchObject({
    code: 'unauthenticated',
    message: 'you are not logged in',
    hint: 'Log in with: refcheck auth login\nIn a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead.',
  })
  expect(openedHome.readFiles()).toEqual([null, null])
})

test('with only a key in the environment the error names the missing value', async () => {
  using openedHome = openHome()
  await expect(resolveSession({ env: { REFCHECK_API_KEY: key }, ...openedHome })).rejects.toMatchObject({
    code: 'usage',
    message: 'the base URL is missing',
  })
  const envWithoutEmail = { REFCHECK_API_KEY: key, REFCHECK_BASE_URL: workUrl }
  await expect(resolveSession({ env: envWithoutEmail, ...openedHome })).rejects.toMatchObject({
    code: 'usage',
    message: 'the user e-mail is missing',
    hint: 'Set REFCHECK_USER_EMAIL, or log in with: refcheck auth login',
  })
})

test('a profile without a key is unauthenticated, unless the environment has a key', async () => {
  using openedHome = openHome()
  await openedHome.add('work', workUrl)
  const noKey = {
    code: 'unauthenticated',
    message: 'profile "work" has no API key',
    hint: expect.stringMatching(/refcheck auth login --profile work/),
  }
  await expect(resolveSession({ env: {}, ...openedHome })).rejects.toMatchObject(noKey)
  await expect(resolveSession({ profile: 'work', env: {}, ...openedHome })).rejects.toMatchObject(noKey)
  const workProfile = { profile: 'work', ...openedHome }
  expect(await resolveSession({ ...workProfile, env: { REFCHECK_API_KEY: otherKey } })).toMatchObject({
    baseUrl: workUrl,
    apiKey: otherKey,
    keyFrom: 'environment',
  })
  await expect(resolveSession({ ...workProfile, env })).rejects.toMatchObject(noKey)
})

test('the error for an unknown profile names the profiles', async () => {
  using openedHome = openHome()
  await expect(resolveSession({ profile: 'wrok', env: {}, ...openedHome })).rejects.toMatchObject({
    code: 'usage',
    message: 'no profile named "wrok"',
    hint: 'Log in with: refcheck auth login',
  })
  await openedHome.add('work', workUrl, key)
  await openedHome.add('home', homeUrl, otherKey)
  const unknownProfileError = {
    code: 'usage',
    message: 'no profile named "wrok"',
    hint: 'Profiles: work, home',
  }
  await expect(resolveSession({ profile: 'wrok', env, ...openedHome })).rejects.toMatchObject(
    unknownProfileError,
  )
  await expect(resolveSession({ env: { REFCHECK_PROFILE: 'wrok' }, ...openedHome })).rejects.toMatchObject(
    unknownProfileError,
  )
  await expect(resolveBaseUrl({ profile: 'wrok', env: {}, ...openedHome })).rejects.toMatchObject(
    unknownProfileError,
  )
})

test.each(['', '..', 'a.b', '__proto__', 'x'.repeat(65)])(
  '--profile %j is refused as a name',
  async (profile) => {
    using openedHome = openHome()
    await expect(resolveSession({ profile, env, ...openedHome })).rejects.toMatchObject({
      code: 'invalid_input',
    })
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
  using openedHome = openHome()
  await openedHome.add('work', 'http://work.example.com', key)
  await expect(resolveSession({ env: {}, ...openedHome })).rejects.toThrow(
    /^the base URL of profile "work" would call work\.example\.com unencrypted/,
  )
  await openedHome.add('home', homeUrl, 'mistyped', 'no-address')
  await expect(resolveSession({ env: {}, ...openedHome })).rejects.toThrow(
    'the e-mail of profile "home" is not valid',
  )
  await expect(
    resolveSession({ env: { REFCHECK_USER_EMAIL: 'ana@example.com' }, ...openedHome }),
  ).rejects.toThrow('the kept API key of profile "home" has 8 characters instead of 32')
})

test('the base URL alone needs no key: --profile, then the environment, then the current profile', async () => {
  using openedHome = openHome()
  await expect(resolveBaseUrl({ env: {}, settings: openedHome.settings })).rejects.toMatchObject({
    code: 'usage',
    message: 'the base URL is missing',
    hint: 'Log in with: refcheck auth login\nIn a script, set REFCHECK_BASE_URL instead.',
  })
  expect(await resolveBaseUrl({ env, settings: untouchable.settings })).toBe('https://env.example.com')
  await openedHome.add('work', workUrl)
  expect(await resolveBaseUrl({ env: {}, settings: openedHome.settings })).toBe(workUrl)
  expect(await resolveBaseUrl({ env, settings: openedHome.settings })).toBe('https://env.example.com')
  expect(await resolveBaseUrl({ profile: 'work', env, settings: openedHome.settings })).toBe(workUrl)
  await expect(
    resolveBaseUrl({ env: { REFCHECK_BASE_URL: 'nonsense' }, settings: openedHome.settings }),
  ).rejects.toThrow('REFCHECK_BASE_URL does not start with https://')
})
