import { expect, test } from 'vitest'

import { listProfiles, logout, switchProfile } from '../../../src/usecases/session/profiles.ts'
import { readSessionStatus } from '../../../src/usecases/session/login.ts'
import type { Keychain } from '../../../src/store/config/keychain.ts'
import { openHome, key, otherKey, untouchable, UserService } from './setup.ts'

const workUrl = 'https://work.example.com'

/** A keychain in memory that can be locked. */
class MemoryKeychain implements Keychain {
  readonly entries = new Map<string, string>()
  locked = false
  readonly read = (account: string): Promise<string | undefined> => this.#use(() => this.entries.get(account))
  readonly write = (account: string, secret: string): Promise<void> =>
    this.#use(() => void this.entries.set(account, secret))
  readonly remove = (account: string): Promise<void> => this.#use(() => void this.entries.delete(account))

  async #use<T>(action: () => T): Promise<T> {
    if (this.locked) throw new Error('locked')
    return action()
  }
}

test('the list is ordered by name and has the current profile, and the storage and last four characters of each key', async () => {
  using home = openHome()
  expect(await listProfiles(home)).toEqual([])
  await home.add('work', workUrl, key)
  await home.secrets.save('work', 'webhook-secret', 'hush')
  await home.add('empty', workUrl)
  await home.settings.switchTo('work')
  const list = await listProfiles(home)
  expect(list).toEqual([
    {
      profile: 'empty',
      current: false,
      base_url: workUrl,
      user_email: 'ana@example.com',
      key_from: null,
      key: null,
      webhook_secret_from: null,
    },
    {
      profile: 'work',
      current: true,
      base_url: workUrl,
      user_email: 'ana@example.com',
      key_from: 'file',
      key: '****pQRS',
      webhook_secret_from: 'file',
    },
  ])
  expect(JSON.stringify(list)).not.toContain('hush')
})

test('with a locked keychain the list has no characters of the key', async () => {
  const keychain = new MemoryKeychain()
  using home = openHome(keychain)
  await home.add('work', workUrl, key)
  keychain.locked = true
  expect(await listProfiles(home)).toMatchObject([{ profile: 'work', key_from: 'keychain', key: null }])
})

test('switchProfile changes the current profile and refuses an unknown one', async () => {
  using home = openHome()
  await home.add('work', workUrl, key)
  await home.add('home', workUrl, key)
  expect(await switchProfile('work', home)).toEqual({ profile: 'work' })
  expect(await home.settings.currentProfile()).toBe('work')
  await expect(switchProfile('wrok', home)).rejects.toMatchObject({
    code: 'usage',
    hint: 'Profiles: work, home',
  })
})

test('logging out removes the profile, its key and its webhook secret', async () => {
  using home = openHome()
  await home.add('home', workUrl, otherKey)
  await home.add('work', workUrl, key)
  await home.secrets.save('work', 'webhook-secret', 'hush')
  expect(await logout({ env: {}, ...home })).toEqual({
    profile: 'work',
    removed: ['api-key', 'webhook-secret'],
    left_in_keychain: [],
  })
  expect(home.readFiles().join('\n')).not.toMatch(/"work"|pQRS|hush/)
  expect(await home.settings.currentProfile()).toBeUndefined()
  await expect(logout({ env: {}, ...home })).rejects.toMatchObject({
    code: 'usage',
    message: 'no profile is in use',
  })
  expect(await logout({ name: 'home', env: {}, ...home })).toMatchObject({
    profile: 'home',
    removed: ['api-key'],
  })
})

test('logging out removes keys from the keychain too, and reports those that could not be removed', async () => {
  const keychain = new MemoryKeychain()
  using home = openHome(keychain)
  await home.add('work', workUrl, key)
  await home.add('home', workUrl, otherKey)
  expect(await logout({ name: 'work', env: {}, ...home })).toMatchObject({ left_in_keychain: [] })
  expect([...keychain.entries.values()]).toEqual([otherKey])
  keychain.locked = true
  expect(await logout({ name: 'home', env: {}, ...home })).toEqual({
    profile: 'home',
    removed: ['api-key'],
    left_in_keychain: ['api-key'],
  })
  expect(await listProfiles(home)).toEqual([])
})

test('logging out uses the first of the argument, --profile, REFCHECK_PROFILE and the current profile', async () => {
  using home = openHome()
  for (const name of ['a', 'b', 'c', 'd']) await home.add(name, workUrl, key)
  const sources = { env: { REFCHECK_PROFILE: 'c' }, ...home }
  expect(await logout({ name: 'a', profile: 'b', ...sources })).toMatchObject({ profile: 'a' })
  expect(await logout({ profile: 'b', ...sources })).toMatchObject({ profile: 'b' })
  expect(await logout(sources)).toMatchObject({ profile: 'c' })
  expect(await logout({ env: {}, ...home })).toMatchObject({ profile: 'd' })
})

test('logging out of an unknown or invalid profile is refused', async () => {
  using home = openHome()
  await home.add('work', workUrl, key)
  await expect(logout({ name: 'wrok', env: {}, ...home })).rejects.toMatchObject({
    code: 'usage',
    message: 'no profile named "wrok"',
    hint: 'Profiles: work',
  })
  await expect(logout({ name: '../work', env: {}, ...home })).rejects.toMatchObject({ code: 'invalid_input' })
  expect(await listProfiles(home)).toHaveLength(1)
})

test('the status has the session with its masked key, whether it works, and the user', async () => {
  await using service = await UserService.start({ key, emails: ['ana@example.com'] })
  using home = openHome()
  await home.add('work', service.baseUrl, key)
  const answer = await readSessionStatus({ env: {}, ...home, connect: service.connect })
  expect(answer).toEqual({
    status: {
      profile: 'work',
      base_url: service.baseUrl,
      user_email: 'ana@example.com',
      key_from: 'file',
      key: '****pQRS',
      works: true,
      user: expect.objectContaining({ email: 'ana@example.com' }),
    },
    error: undefined,
  })
  expect(JSON.stringify(answer)).not.toContain(key)
})

test('the status may come from the environment alone', async () => {
  await using service = await UserService.start({ key, emails: ['ana@example.com'] })
  const env = {
    REFCHECK_BASE_URL: service.baseUrl,
    REFCHECK_API_KEY: key,
    REFCHECK_USER_EMAIL: 'ana@example.com',
  }
  expect(await readSessionStatus({ env, ...untouchable, connect: service.connect })).toMatchObject({
    status: { profile: null, key_from: 'environment', works: true },
  })
})

test.each([
  ['a revoked key', otherKey, 'ana@example.com', 'unauthenticated'],
  ['a user who left', key, 'zoe@example.com', 'forbidden'],
  ['a user who is not in the list', key, 'ghost@example.com', 'forbidden'],
])('the status with %s has the session and the error', async (_name, apiKey, email, code) => {
  await using service = await UserService.start({ key, emails: ['ana@example.com'] })
  using home = openHome()
  await home.add('work', service.baseUrl, apiKey, email)
  expect(await readSessionStatus({ env: {}, ...home, connect: service.connect })).toMatchObject({
    status: { profile: 'work', works: false, user: null },
    error: { code },
  })
})

test('the status without a session is refused as unauthenticated', async () => {
  using home = openHome()
  await using service = await UserService.start({ key, emails: [] })
  await expect(readSessionStatus({ env: {}, ...home, connect: service.connect })).rejects.toMatchObject({
    code: 'unauthenticated',
  })
})
