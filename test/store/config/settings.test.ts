import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
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
import { openSettings, type Settings } from '../../../src/store/config/settings.ts'

const sourceUrl = (path: string): string => new URL(`../../../src/${path}`, import.meta.url).href
let folder: string
let config: string
let settings: Settings
let messages: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'refcheck-settings-'))
  config = join(folder, 'config')
  messages = []
  settings = openSettings({
    paths: { config, data: join(folder, 'data') },
    clock,
    onMessage: (text) => messages.push(text),
  })
})
afterEach(() => rmSync(folder, { recursive: true }))

const work = { baseUrl: 'https://api.example.com', userEmail: 'ana@example.com' }
const home = { baseUrl: 'http://127.0.0.1:4010', userEmail: 'bo@example.com' }
const modeOf = (path: string): number => statSync(path).mode & 0o777

test('without saved settings all values are empty, and reading creates no folder', async () => {
  expect(await settings.currentProfile()).toBeUndefined()
  expect(await settings.profile('work')).toBeUndefined()
  expect([...(await settings.values())]).toEqual([])
  expect(existsSync(config)).toBe(false)
})

describe('profiles', () => {
  test('are saved, listed, made current, switched and removed', async () => {
    await settings.saveProfile('work', work, { makeCurrent: true })
    await settings.saveProfile('home', home, { makeCurrent: false })
    expect([...(await settings.profiles())]).toEqual([
      ['work', work],
      ['home', home],
    ])
    expect(await settings.currentProfile()).toBe('work')
    await settings.switchTo('home')
    expect(await settings.currentProfile()).toBe('home')
    expect(await settings.removeProfile('home')).toBe(true)
    expect(await settings.currentProfile()).toBeUndefined()
    expect(await settings.removeProfile('home')).toBe(false)
    expect([...(await settings.profiles()).keys()]).toEqual(['work'])
  })

  test('removing another profile does not change the current profile', async () => {
    await settings.saveProfile('work', work, { makeCurrent: true })
    await settings.saveProfile('home', home, { makeCurrent: false })
    await settings.removeProfile('home')
    expect(await settings.currentProfile()).toBe('work')
  })

  test('a profile that is saved again keeps its own settings', async () => {
    await settings.saveProfile('work', work, { makeCurrent: true })
    await settings.setValue('package', '7', 'work')
    await settings.saveProfile('work', { ...work, userEmail: 'cy@example.com' }, { makeCurrent: true })
    expect(await settings.value('package', 'work')).toBe('7')
    expect((await settings.profile('work'))?.userEmail).toBe('cy@example.com')
  })

  test('switching to a profile that does not exist names the existing profiles', async () => {
    await expect(settings.switchTo('work')).rejects.toMatchObject({
      code: 'usage',
      message: 'no profile named "work"',
      hint: 'Log in with: refcheck auth login',
    })
    await settings.saveProfile('home', home, { makeCurrent: true })
    await settings.saveProfile('spare', home, { makeCurrent: true })
    await expect(settings.switchTo('work')).rejects.toMatchObject({
      hint: 'Profiles: home, spare',
    })
    expect(await settings.currentProfile()).toBe('spare')
  })

  test.each(['..', 'a.b', '__proto__', '', 'x'.repeat(65)])(
    'the name %j is refused, and nothing is written',
    async (name) => {
      const refused = { code: 'invalid_input' }
      await expect(settings.saveProfile(name, work, { makeCurrent: true })).rejects.toMatchObject(refused)
      await expect(settings.switchTo(name)).rejects.toMatchObject(refused)
      await expect(settings.removeProfile(name)).rejects.toMatchObject(refused)
      await expect(settings.profile(name)).rejects.toMatchObject(refused)
      await expect(settings.setValue('package', '1', name)).rejects.toMatchObject(refused)
      expect(existsSync(settings.path)).toBe(false)
      expect(Object.hasOwn(Object.prototype, 'base_url')).toBe(false)
    },
  )

  test('a profile may have the name of a method of Object.prototype', async () => {
    expect(await settings.profile('toString')).toBeUndefined()
    await settings.saveProfile('toString', work, { makeCurrent: true })
    expect(await settings.profile('toString')).toEqual(work)
    expect(await settings.profile('valueOf')).toBeUndefined()
  })
})

describe('values', () => {
  test('the value of a profile overrides the value for all profiles', async () => {
    await settings.saveProfile('work', work, { makeCurrent: true })
    expect(await settings.setValue('default-country', 'au')).toBe('AU')
    await settings.setValue('timeout', '5m')
    await settings.setValue('timeout', '1h', 'work')
    expect([...(await settings.values('work'))]).toEqual([
      ['timeout', { value: '1h', from: 'profile' }],
      ['default-country', { value: 'AU', from: 'settings' }],
    ])
    expect(await settings.value('timeout')).toBe('5m')
    expect(await settings.value('timeout', 'work')).toBe('1h')
    expect(await settings.unsetValue('timeout', 'work')).toBe(true)
    expect(await settings.value('timeout', 'work')).toBe('5m')
    expect(await settings.unsetValue('timeout')).toBe(true)
    expect(await settings.unsetValue('timeout')).toBe(false)
    expect(await settings.value('timeout')).toBeUndefined()
  })

  test('an invalid value, an unknown key or an unknown profile changes nothing', async () => {
    await settings.setValue('package', '7')
    const before = readFileSync(settings.path)
    await expect(settings.setValue('package', '1e3')).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(settings.setValue('colour', 'red')).rejects.toMatchObject({ code: 'usage' })
    await expect(settings.unsetValue('colour')).rejects.toMatchObject({ code: 'usage' })
    await expect(settings.value('colour')).rejects.toMatchObject({ code: 'usage' })
    await expect(settings.setValue('package', '8', 'nobody')).rejects.toMatchObject({ code: 'usage' })
    expect(readFileSync(settings.path).equals(before)).toBe(true)
  })

  test('in a file edited by hand, a number is accepted as a value, and an invalid value is reported when it is read', async () => {
    mkdirSync(config, { mode: 0o700 })
    writeFileSync(settings.path, '{"settings":{"package":7,"timeout":"soon"}}', { mode: 0o600 })
    expect(await settings.value('package')).toBe('7')
    await expect(settings.value('timeout')).rejects.toThrow('timeout: "soon" is not a duration')
  })
})

describe('the file', () => {
  test('is private, in a private folder, and settings that a newer version wrote are preserved', async () => {
    mkdirSync(config, { mode: 0o700 })
    writeFileSync(
      settings.path,
      '{"theme":{"dark":true},"profiles":{"work":{"base_url":"u","user_email":"e","x":1}}}',
    )
    await settings.saveProfile('work', work, { makeCurrent: true })
    expect(JSON.parse(readFileSync(settings.path, 'utf8'))).toEqual({
      theme: { dark: true },
      profile: 'work',
      profiles: { work: { base_url: work.baseUrl, user_email: work.userEmail, x: 1 } },
    })
    expect([modeOf(config), modeOf(settings.path)]).toEqual([0o700, 0o600])
    expect(readdirSync(config).sort()).toEqual(['config.json', 'config.json.lock'])
  })

  test('a file that other users can read is made private and reported once; the permissions of a readable folder are not changed', async () => {
    await settings.setValue('package', '7')
    chmodSync(config, 0o755)
    chmodSync(settings.path, 0o644)
    await settings.currentProfile()
    await settings.currentProfile()
    expect(messages).toEqual([
      `The file "${settings.path}" was readable by other users (0644); it is now private (0600).`,
    ])
    expect([modeOf(config), modeOf(settings.path)]).toEqual([0o755, 0o600])
  })

  test.each([
    ['', /is damaged: it is not JSON/],
    ['{"profiles": {', /is damaged: it is not JSON/],
    ['{\n  "profile": "work",\n}', /is damaged: it is not JSON \(line 3 column 1\)$/],
    ['[]', /is damaged: it must be an object/],
    ['null', /is damaged: it must be an object/],
    ['{"profile":7}', /is damaged: profile: must be a text/],
    ['{"profiles":{"work":{"base_url":"u"}}}', /is damaged: profiles\.work\.user_email: /],
    ['{"profiles":{"a.b":{"base_url":"u","user_email":"e"}}}', /is damaged: "a\.b" is not a valid name/],
    ['{"settings":{"package":[1]}}', /is damaged: settings\.package: /],
  ])('a damaged file (%j) is reported and never overwritten', async (text, message) => {
    mkdirSync(config, { mode: 0o700 })
    writeFileSync(settings.path, text, { mode: 0o600 })
    for (const use of [
      () => settings.currentProfile(),
      () => settings.setValue('package', '7'),
      () => settings.saveProfile('work', work, { makeCurrent: true }),
      () => settings.removeProfile('work'),
    ]) {
      await expect(use()).rejects.toMatchObject({
        code: 'io',
        message: expect.stringMatching(message),
        hint: 'It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login',
      })
    }
    expect(readFileSync(settings.path, 'utf8')).toBe(text)
  })

  test('content that does not match the schema of the file is not written', async () => {
    await settings.saveProfile('work', work, { makeCurrent: true })
    const before = readFileSync(settings.path, 'utf8')
    const wrong = { ...work, baseUrl: 7 } as unknown as typeof work
    await expect(settings.saveProfile('work', wrong, { makeCurrent: true })).rejects.toThrow(
      'profiles/work/base_url',
    )
    expect(readFileSync(settings.path, 'utf8')).toBe(before)
  })

  test('a file that is a symbolic link is neither read nor written', async () => {
    const outside = join(folder, 'outside')
    writeFileSync(outside, '{"profile":"work"}')
    mkdirSync(config, { mode: 0o700 })
    symlinkSync(outside, settings.path)
    await expect(settings.currentProfile()).rejects.toThrow(/symbolic link/)
    await expect(settings.setValue('package', '7')).rejects.toThrow(/symbolic link/)
    expect(readFileSync(outside, 'utf8')).toBe('{"profile":"work"}')
    expect(lstatSync(settings.path).isSymbolicLink()).toBe(true)
  })
})

/** Runs the statements in another process that has opened the same settings. */
async function runInOtherProcess(statements: string): Promise<void> {
  const script = `
    import { openSettings } from ${JSON.stringify(sourceUrl('store/config/settings.ts'))}
    import { systemClock as clock } from ${JSON.stringify(sourceUrl('host/clock.ts'))}
    const settings = openSettings({ paths: ${JSON.stringify({ config, data: folder })}, clock })
    ${statements}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  expect(code).toBe(0)
}

test('three processes that write 50 profiles each at once lose none of the 150', async () => {
  const profile = JSON.stringify(work)
  await Promise.all(
    ['a', 'b', 'c'].map((writer) =>
      runInOtherProcess(`for (let i = 0; i < 50; i++) {
        await settings.saveProfile('${writer}-' + i, ${profile}, { makeCurrent: false })
      }`),
    ),
  )
  const names = [...(await settings.profiles()).keys()]
  expect(names).toHaveLength(150)
  expect(new Set(names).size).toBe(150)
}, 60_000)

test('under umask 000 the folder, the file and the lock are private', async () => {
  await runInOtherProcess(`process.umask(0); await settings.setValue('package', '7')`)
  const paths = [config, ...readdirSync(config).map((name) => join(config, name))]
  expect(paths.map(modeOf)).toEqual([0o700, 0o600, 0o600])
})
