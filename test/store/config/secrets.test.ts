import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { systemClock as clock } from '../../../src/host/clock.ts'
import { systemRandom as random } from '../../../src/host/random.ts'
import type { Keychain } from '../../../src/store/config/keychain.ts'
import { openSecrets, type Secrets, type SecretsOptions } from '../../../src/store/config/secrets.ts'

const sourceUrl = (path: string): string => new URL(`../../../src/${path}`, import.meta.url).href
const key = 'K3y0123456789abcdefghijklmnopQRS'
const newKey = 'N3w0123456789abcdefghijklmnopQRS'
const baseUrl = 'https://api.example.com'
let folder: string
let config: string
let messages: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-secrets-'))
  config = join(folder, 'config')
  messages = []
})
afterEach(() => rmSync(folder, { recursive: true }))

function openTestSecrets(options: Partial<SecretsOptions> = {}): Secrets {
  return openSecrets({
    paths: { config, data: join(folder, 'data') },
    clock,
    random,
    keychain: 'never',
    onMessage: (text) => messages.push(text),
    ...options,
  })
}

/** A keychain in memory that can be locked like the keychain of the system. */
class MemoryKeychain implements Keychain {
  readonly entries = new Map<string, string>()
  isLocked = false

  async read(account: string): Promise<string | undefined> {
    this.#requireUnlocked()
    return this.entries.get(account)
  }

  async write(account: string, secret: string): Promise<void> {
    this.#requireUnlocked()
    this.entries.set(account, secret)
  }

  async remove(account: string): Promise<void> {
    this.#requireUnlocked()
    this.entries.delete(account)
  }

  #requireUnlocked(): void {
    if (this.isLocked) throw new Error('locked')
  }
}

const openWithKeychain = (keychain: Keychain): Secrets =>
  openTestSecrets({ keychain: 'try', loadKeychain: () => Promise.resolve(keychain) })
const readCredentials = (): string => readFileSync(join(config, 'credentials.json'), 'utf8')

describe('in a file', () => {
  test('a secret is stored by profile and name, and read back with the base URL that it was saved for', async () => {
    const secrets = openTestSecrets()
    expect(await secrets.read('work', 'api-key')).toBeUndefined()
    expect(existsSync(config)).toBe(false)
    expect(await secrets.save('work', 'api-key', key, { baseUrl })).toBe('file')
    expect(await secrets.save('work', 'webhook-secret', 'hush')).toBe('file')
    expect(await secrets.read('work', 'api-key')).toEqual({ value: key, storage: 'file', baseUrl })
    expect(await secrets.read('work', 'webhook-secret')).toEqual({
      value: 'hush',
      storage: 'file',
      baseUrl: undefined,
    })
    expect(await secrets.storage('work', 'api-key')).toBe('file')
    expect(await secrets.read('home', 'api-key')).toBeUndefined()
    expect(await secrets.storage('toString', 'api-key')).toBeUndefined()
  })

  test('the file is private, in a private folder', async () => {
    await openTestSecrets().save('work', 'api-key', key, { baseUrl })
    expect(statSync(config).mode & 0o777).toBe(0o700)
    expect(statSync(join(config, 'credentials.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(config).sort()).toEqual(['credentials.json', 'credentials.json.lock'])
  })

  test('looser permissions of the file are corrected with a warning', async () => {
    const secrets = openTestSecrets()
    await secrets.save('work', 'api-key', key, { baseUrl })
    chmodSync(secrets.path, 0o644)
    expect((await secrets.read('work', 'api-key'))?.value).toBe(key)
    expect(statSync(secrets.path).mode & 0o777).toBe(0o600)
    expect(messages).toEqual([
      `The file "${secrets.path}" was readable by other users (0644); it is now private (0600).`,
    ])
  })

  test('a removed secret leaves nothing on the disk, whether one or both secrets of a profile are removed', async () => {
    const secrets = openTestSecrets()
    await secrets.save('work', 'api-key', key, { baseUrl })
    await secrets.save('work', 'webhook-secret', 'hush')
    await secrets.save('home', 'api-key', newKey, { baseUrl })
    expect(await secrets.remove('work', 'webhook-secret')).toEqual({
      removed: ['webhook-secret'],
      leftInKeychain: [],
    })
    expect(await secrets.remove('work')).toEqual({ removed: ['api-key'], leftInKeychain: [] })
    expect(await secrets.remove('work')).toEqual({ removed: [], leftInKeychain: [] })
    expect(JSON.parse(readCredentials())).toEqual({
      secrets: { home: { 'api-key': { value: newKey, base_url: baseUrl } } },
    })
  })

  test('the next write removes temporary files of a writer that was killed', async () => {
    const secrets = openTestSecrets()
    await secrets.save('work', 'api-key', key, { baseUrl })
    writeFileSync(join(config, '.credentials.json.00ff.tmp'), key)
    await secrets.remove('work')
    expect(readdirSync(config).sort()).toEqual(['credentials.json', 'credentials.json.lock'])
  })

  test.each(['..', 'a.b', '__proto__', 'constructor', ''])('the name %j is refused', async (name) => {
    const secrets = openTestSecrets()
    const refusal = { code: 'invalid_input' }
    await expect(secrets.save(name, 'api-key', key)).rejects.toMatchObject(refusal)
    await expect(secrets.read(name, 'api-key')).rejects.toMatchObject(refusal)
    await expect(secrets.remove(name)).rejects.toMatchObject(refusal)
    expect(existsSync(secrets.path)).toBe(false)
  })

  test.each([
    `{"secrets":{"work":{"api-key":{"value":"${key}"}}`,
    key,
    `{"secrets":{"work":{"api-key":"${key}"}}}`,
    `{"secrets":{"work":["${key}"]}}`,
    `["${key}"]`,
    '',
  ])(
    'a damaged file is reported by its path, without its content, and never overwritten (%#)',
    async (text) => {
      mkdirSync(config, { mode: 0o700 })
      const secrets = openTestSecrets()
      writeFileSync(secrets.path, text, { mode: 0o600 })
      const uses = [
        () => secrets.read('work', 'api-key'),
        () => secrets.save('home', 'api-key', newKey),
        () => secrets.remove('work'),
      ]
      for (const use of uses) {
        const failure = await use().catch((error: unknown) => error)
        expect(failure).toMatchObject({
          code: 'io',
          message: expect.stringContaining(`"${secrets.path}" is damaged: `),
        })
        const failureText = failure instanceof Error ? `${failure.stack} ${String(failure.cause)}` : ''
        expect(failureText).not.toContain(key.slice(0, 6))
      }
      expect(readCredentials()).toBe(text)
    },
  )

  test('a file that is a symbolic link is neither read nor written', async () => {
    const outside = join(folder, 'outside')
    writeFileSync(outside, '{}')
    mkdirSync(config, { mode: 0o700 })
    symlinkSync(outside, join(config, 'credentials.json'))
    await expect(openTestSecrets().read('work', 'api-key')).rejects.toThrow(/symbolic link/)
    await expect(openTestSecrets().save('work', 'api-key', key)).rejects.toThrow(/symbolic link/)
    expect(readFileSync(outside, 'utf8')).toBe('{}')
  })
})

describe('in a keychain', () => {
  test('only the keychain contains the secret; the file names the keychain', async () => {
    const keychain = new MemoryKeychain()
    const secrets = openWithKeychain(keychain)
    expect(await secrets.save('work', 'api-key', key, { baseUrl })).toBe('keychain')
    expect(await secrets.read('work', 'api-key')).toEqual({ value: key, storage: 'keychain', baseUrl })
    expect(await secrets.storage('work', 'api-key')).toBe('keychain')
    expect([...keychain.entries.values()]).toEqual([key])
    expect(readCredentials()).not.toContain(key)
  })

  test('a new secret replaces the old one, also if one is in the keychain and the other in the file', async () => {
    const keychain = new MemoryKeychain()
    const secrets = openWithKeychain(keychain)
    await secrets.save('work', 'api-key', key, { baseUrl })
    await secrets.save('work', 'api-key', newKey, { baseUrl })
    expect([...keychain.entries.values()]).toEqual([newKey])
    expect(await secrets.save('work', 'api-key', key, { baseUrl, insecure: true })).toBe('file')
    expect([...keychain.entries.values()]).toEqual([])
    expect(readCredentials()).toContain(key)
    await secrets.save('work', 'api-key', newKey, { baseUrl })
    expect(readCredentials()).not.toContain(key)
    expect((await secrets.read('work', 'api-key'))?.value).toBe(newKey)
  })

  test('two config folders with a profile of the same name do not share an entry', async () => {
    const keychain = new MemoryKeychain()
    const firstSecrets = openWithKeychain(keychain)
    const otherSecrets = openTestSecrets({
      paths: { config: join(folder, 'other'), data: folder },
      keychain: 'try',
      loadKeychain: () => Promise.resolve(keychain),
    })
    await firstSecrets.save('default', 'api-key', key, { baseUrl })
    await otherSecrets.save('default', 'api-key', newKey, { baseUrl })
    await otherSecrets.remove('default')
    expect((await firstSecrets.read('default', 'api-key'))?.value).toBe(key)
  })

  test('removing a secret removes its entry in the keychain', async () => {
    const keychain = new MemoryKeychain()
    const secrets = openWithKeychain(keychain)
    await secrets.save('work', 'api-key', key, { baseUrl })
    expect(await secrets.remove('work')).toEqual({ removed: ['api-key'], leftInKeychain: [] })
    expect(keychain.entries.size).toBe(0)
    expect(await secrets.read('work', 'api-key')).toBeUndefined()
  })

  test('an entry that another program removed is read as no secret, without an error', async () => {
    const keychain = new MemoryKeychain()
    const secrets = openWithKeychain(keychain)
    await secrets.save('work', 'api-key', key, { baseUrl })
    keychain.entries.clear()
    expect(await secrets.read('work', 'api-key')).toBeUndefined()
  })

  test('if the probe of the keychain fails, the file is used', async () => {
    const keychain = new MemoryKeychain()
    keychain.isLocked = true
    expect(await openWithKeychain(keychain).save('work', 'api-key', key, { baseUrl })).toBe('file')
    const emptyKeychain = new MemoryKeychain()
    emptyKeychain.read = () => Promise.resolve(undefined)
    expect(await openWithKeychain(emptyKeychain).save('work', 'api-key', key, { baseUrl })).toBe('file')
    const withoutKeychain = openTestSecrets({
      keychain: 'try',
      loadKeychain: () => Promise.resolve(undefined),
    })
    expect(await withoutKeychain.save('work', 'api-key', key, { baseUrl })).toBe('file')
    expect((await withoutKeychain.read('work', 'api-key'))?.value).toBe(key)
  })

  test('the probe leaves no entry in the keychain', async () => {
    const keychain = new MemoryKeychain()
    const secrets = openWithKeychain(keychain)
    await secrets.save('work', 'api-key', key, { baseUrl })
    expect([...keychain.entries.keys()]).toEqual([expect.stringMatching(/^work\/api-key\//)])
  })

  test('the error for a locked keychain has a hint that says what the user can do', async () => {
    const keychain = new MemoryKeychain()
    const secrets = openWithKeychain(keychain)
    await secrets.save('work', 'api-key', key, { baseUrl })
    await secrets.save('work', 'webhook-secret', 'hush')
    keychain.isLocked = true
    const expected = {
      code: 'io',
      message: 'cannot read the API key of profile "work" from the system keychain',
      hint: 'Unlock the keychain, set REFCHECK_API_KEY, or keep the key in a file with: refcheck auth login --insecure-storage',
    }
    await expect(secrets.read('work', 'api-key')).rejects.toMatchObject(expected)
    await expect(openTestSecrets().read('work', 'api-key')).rejects.toMatchObject(expected)
    await expect(secrets.read('work', 'webhook-secret')).rejects.toMatchObject({
      hint: 'Unlock the keychain, or set REFCHECK_WEBHOOK_SECRET.',
    })
    expect(await secrets.remove('work')).toEqual({
      removed: ['api-key', 'webhook-secret'],
      leftInKeychain: ['api-key', 'webhook-secret'],
    })
    expect(await secrets.read('work', 'api-key')).toBeUndefined()
  })

  test('if the file cannot be written, no entry is left in the keychain', async () => {
    const keychain = new MemoryKeychain()
    mkdirSync(join(config, 'credentials.json'), { recursive: true, mode: 0o700 })
    await expect(openWithKeychain(keychain).save('work', 'api-key', key)).rejects.toMatchObject({
      code: 'io',
    })
    expect(keychain.entries.size).toBe(0)
  })
})

test('two processes that save at once lose nothing; the file is private under umask 000', async () => {
  const script = (writer: string): string => `
    import { openSecrets } from ${JSON.stringify(sourceUrl('store/config/secrets.ts'))}
    import { systemClock as clock } from ${JSON.stringify(sourceUrl('host/clock.ts'))}
    import { systemRandom as random } from ${JSON.stringify(sourceUrl('host/random.ts'))}
    process.umask(0)
    const secrets = openSecrets({ paths: { config: ${JSON.stringify(config)}, data: '' }, clock, random, keychain: 'never' })
    for (let i = 0; i < 25; i++) await secrets.save('${writer}' + i, 'api-key', '${writer}' + i)`
  const codes = ['a', 'b'].map(async (writer) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script(writer)])
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  })
  expect(await Promise.all(codes)).toEqual([0, 0])
  const secrets = openTestSecrets()
  for (const writer of ['a', 'b']) {
    for (let i = 0; i < 25; i++)
      expect((await secrets.read(`${writer}${i}`, 'api-key'))?.value).toBe(`${writer}${i}`)
  }
  const modes = ['', 'credentials.json', 'credentials.json.lock'].map(
    (name) => statSync(join(config, name)).mode & 0o777,
  )
  expect(modes).toEqual([0o700, 0o600, 0o600])
}, 60_000)

test('an entry without a value is read as no secret, and a secret that the keychain refuses to return is reported', async () => {
  mkdirSync(config, { mode: 0o700 })
  writeFileSync(join(config, 'credentials.json'), '{"secrets":{"work":{"api-key":{}}}}', { mode: 0o600 })
  expect(await openTestSecrets().read('work', 'api-key')).toBeUndefined()
  expect(await openTestSecrets().storage('work', 'api-key')).toBeUndefined()
  expect(await openTestSecrets().remove('home')).toEqual({ removed: [], leftInKeychain: [] })
  const keychain = new MemoryKeychain()
  await openWithKeychain(keychain).save('work', 'api-key', key, { baseUrl })
  keychain.isLocked = true
  await openWithKeychain(keychain).save('work', 'api-key', newKey, { baseUrl, insecure: true })
  expect(messages).toEqual(['The old API key of profile "work" could not be removed from the keychain.'])
  keychain.isLocked = false
  await openWithKeychain(keychain).save('work', 'api-key', key, { baseUrl })
  expect(await openTestSecrets().remove('work')).toEqual({
    removed: ['api-key'],
    leftInKeychain: ['api-key'],
  })
})
