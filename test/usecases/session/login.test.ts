import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { expect, test } from 'vitest'

import { login, type LoginInput, listLoginEmails } from '../../../src/usecases/session/login.ts'
import { resolveSession } from '../../../src/usecases/session/resolve.ts'
import { type Home, openHome, key, otherKey, UserService } from './setup.ts'

const emails = ['ana@example.com', 'Bo.Li@Example.com']
const startService = (): Promise<UserService> => UserService.start({ key, emails })

function createInput(service: UserService, home: Home, more: Partial<LoginInput> = {}): LoginInput {
  const { baseUrl, connect } = service
  const { settings, secrets } = home
  return { baseUrl, apiKey: key, email: 'ana@example.com', settings, secrets, connect, ...more }
}

test('a login calls the service with key and e-mail, saves the profile and makes it current', async () => {
  await using service = await startService()
  using home = openHome()
  const result = await login(
    createInput(service, home, { baseUrl: `${service.baseUrl}/`, apiKey: `${key}\n` }),
  )
  expect(result).toMatchObject({
    profile: 'default',
    storage: 'file',
    user: { email: 'ana@example.com', role: 'owner' },
    replaced: [],
  })
  expect(service.calls).toEqual([{ path: '/v1/users', key, email: 'ana@example.com' }])
  expect(await resolveSession({ env: {}, ...home })).toEqual({
    baseUrl: service.baseUrl,
    apiKey: key,
    email: 'ana@example.com',
    profile: 'default',
    keyFrom: 'file',
  })
})

test('the e-mail is found whatever its case', async () => {
  await using service = await startService()
  using home = openHome()
  const { user } = await login(createInput(service, home, { email: 'bo.li@example.com' }))
  expect(user.email).toBe('Bo.Li@Example.com')
})

test.each([
  ['a key that the service refuses', { apiKey: otherKey }, 'unauthenticated', 1],
  ['an e-mail that the service refuses', { email: 'zoe@example.com' }, 'forbidden', 1],
  ['an e-mail that is not among the users', { email: 'ghost@example.com' }, 'forbidden', 1],
  ['a key of 31 characters', { apiKey: key.slice(1) }, 'invalid_input', 0],
  ['an e-mail with a line break', { email: 'ana@example.com\n' }, 'invalid_input', 0],
  ['a base URL with http', { baseUrl: 'http://api.example.com' }, 'invalid_input', 0],
  ['an invalid profile name', { profile: 'a.b' }, 'invalid_input', 0],
])('%s saves nothing', async (_name, invalidValues, code, calls) => {
  await using service = await startService()
  using home = openHome()
  await home.add('work', service.baseUrl, otherKey)
  const before = home.readFiles()
  const failure: unknown = await login(createInput(service, home, invalidValues)).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code })
  expect(String(failure)).not.toContain(key.slice(1))
  expect(service.calls).toHaveLength(calls)
  expect(home.readFiles()).toEqual(before)
})

test('the error for an unknown user has no names of others, but the command that lists them', async () => {
  await using service = await startService()
  using home = openHome()
  const failure: unknown = await login(createInput(service, home, { email: 'ghost@example.com' })).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({
    message: '"ghost@example.com" is not an active user of the key’s organisation',
    hint: expect.stringMatching(/refcheck users list/),
  })
  expect(JSON.stringify(failure)).not.toMatch(/ana@|bo\.li@/i)
})

test('a login to a service that does not answer fails as unavailable and saves nothing', async () => {
  using home = openHome()
  const service = await startService()
  const settings = createInput(service, home)
  await service[Symbol.asyncDispose]()
  await using other = await startService()
  await expect(login({ ...settings, connect: other.connect })).rejects.toMatchObject({ code: 'unavailable' })
  expect(home.readFiles()).toEqual([null, null])
})

test('a damaged settings file is reported before anything is sent', async () => {
  await using service = await startService()
  using home = openHome()
  mkdirSync(dirname(home.settings.path), { mode: 0o700 })
  writeFileSync(home.settings.path, '{', { mode: 0o600 })
  await expect(login(createInput(service, home))).rejects.toMatchObject({ code: 'io' })
  expect(service.calls).toEqual([])
  expect(home.readFiles()).toEqual(['{', null])
})

test('if a profile cannot be saved, its key is not stored', async () => {
  await using service = await startService()
  using home = openHome()
  const settings = {
    ...home.settings,
    saveProfile: () => Promise.reject(new Error('no space is left')),
  }
  await expect(login(createInput(service, home, { settings }))).rejects.toThrow('no space is left')
  expect(await home.secrets.storage('default', 'api-key')).toBeUndefined()
})

test('a login with a new key names the other profiles of the base URL that have another key', async () => {
  await using service = await startService()
  using home = openHome()
  await home.add('old', service.baseUrl, otherKey)
  await home.add('older', service.baseUrl, otherKey)
  await home.add('same', service.baseUrl, key)
  await home.add('keyless', service.baseUrl)
  await home.add('elsewhere', 'https://elsewhere.example', otherKey)
  const { replaced } = await login(createInput(service, home, { profile: 'new' }))
  expect(replaced).toEqual(['old', 'older'])
  expect(await home.settings.currentProfile()).toBe('new')
})

test('the profile whose key is replaced is not among the other profiles with an old key', async () => {
  await using service = await startService()
  using home = openHome()
  await home.add('work', service.baseUrl, otherKey)
  expect(await login(createInput(service, home, { profile: 'work' }))).toMatchObject({
    profile: 'work',
    replaced: [],
  })
  expect((await home.secrets.read('work', 'api-key'))?.value).toBe(key)
})

test('without a profile name: the existing profile of this user and service, else "default", else a name made from the host', async () => {
  await using service = await startService()
  using home = openHome()
  await home.add('mine', service.baseUrl, otherKey, 'Ana@Example.com')
  await home.add('default', 'https://elsewhere.example', otherKey)
  const name = async (email: string): Promise<string> =>
    (await login(createInput(service, home, { email }))).profile
  expect(await name('ana@example.com')).toBe('mine')
  expect(await name('bo.li@example.com')).toBe('local')
  expect(await name('bo.li@example.com')).toBe('local')
  await home.settings.removeProfile('mine')
  expect(await name('ana@example.com')).toBe('local-2')
})

test.each([
  ['https://refs.example.com/api', 'refs'],
  ['https://10.1.2.3:8443', '10-1-2-3'],
  ['https://[2001:db8::7]', '2001-db8-7'],
  ['https://we!rd.example.com', 'we-rd'],
])('a second service at %s becomes "%s"', async (baseUrl, name) => {
  await using service = await startService()
  using home = openHome()
  await home.add('default', 'https://elsewhere.example', otherKey)
  const connect: UserService['connect'] = (credentials) =>
    service.connect({ ...credentials, baseUrl: service.baseUrl })
  expect(await login(createInput(service, home, { baseUrl, connect }))).toMatchObject({ profile: name })
})

test('if a saved profile of this service has a user that the new key accepts, the e-mails of all users are offered', async () => {
  await using service = await startService()
  using home = openHome()
  const inputWithoutEmail = { ...createInput(service, home), email: undefined }
  expect(await listLoginEmails(inputWithoutEmail)).toEqual([])
  expect(service.calls).toEqual([])
  await home.add('gone', service.baseUrl, otherKey, 'zoe@example.com')
  await home.add('work', service.baseUrl, otherKey, 'ana@example.com')
  await home.add('elsewhere', 'https://elsewhere.example', otherKey, 'bo.li@example.com')
  expect(await listLoginEmails(inputWithoutEmail)).toEqual(emails)
  expect(service.calls.map((call) => [call.key, call.email])).toEqual([
    [key, 'zoe@example.com'],
    [key, 'ana@example.com'],
  ])
})

test('a key that the service refuses offers no e-mails, after one call', async () => {
  await using service = await startService()
  using home = openHome()
  await home.add('one', service.baseUrl, otherKey, 'ana@example.com')
  await home.add('two', service.baseUrl, otherKey, 'bo.li@example.com')
  expect(await listLoginEmails({ ...createInput(service, home), apiKey: otherKey })).toEqual([])
  expect(service.calls).toHaveLength(1)
})
