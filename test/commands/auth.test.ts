import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { type Outcome, refcheck, type RunOptions } from '../harness/run-command.ts'
import { type Answer, ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { emptyEnv, type World, world } from '../harness/world.ts'

/** A person without a profile, beside a service that runs. */
async function newcomer(): Promise<
  World & { type: (argv: string[], options?: RunOptions) => Promise<Outcome> }
> {
  const here = await world()
  const env = emptyEnv(here.folder)
  return { ...here, type: (argv, options = {}) => refcheck(argv, { cwd: here.folder, env, ...options }) }
}

const owner = 'olive.owner@example.com'

async function loggedIn() {
  const here = await newcomer()
  const { apiKey } = here.sandbox.credentials
  const login = ['auth', 'login', '--base-url', here.url, '--email', owner, '--with-key']
  const outcome = await here.type(login, { stdin: `${apiKey}\n` })
  expect(outcome.code).toBe(0)
  return { ...here, apiKey, outcome, login }
}

test('auth login with the key on stdin; then no environment is needed', async () => {
  const { type, outcome, url, folder, apiKey } = await loggedIn()
  expect(outcome.stdout.replaceAll(url, 'URL').replaceAll(folder, 'HOME')).toMatchInlineSnapshot(`
    "Logged in to URL as Olive Owner (olive.owner@example.com, owner).
    Profile "default" is in use. Its key is kept in a private file, readable by this account only: HOME/config/credentials.json.
    "
  `)
  expect(`${outcome.stdout}${outcome.stderr}`).not.toContain(apiKey)
  expect((await type(['packages', 'list', '--json'])).code).toBe(0)
})

test('the key is in a file for this account alone, and nowhere else', async () => {
  const { folder, apiKey } = await loggedIn()
  const file = join(folder, 'config', 'credentials.json')
  expect(readFileSync(file, 'utf8')).toContain(apiKey)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'config')).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(folder, 'config', 'config.json'), 'utf8')).not.toContain(apiKey)
})

test('asked for everything on a terminal', async () => {
  const { type, url, sandbox } = await newcomer()
  const answers: Answer[] = [
    { ask: /Base URL/, type: 'http://api.example.com', refused: /https/ },
    { ask: /Base URL/, type: `${url}/` },
    { ask: /API key/, secret: 'short', refused: /has 5 characters instead of 32/ },
    { ask: /API key/, secret: sandbox.credentials.apiKey },
    { ask: /e-mail/, type: owner },
  ]
  const prompter = new ScriptedPrompter(answers)
  const { code, stdout } = await type(['auth', 'login'], { prompter })
  prompter.finish()
  expect(code).toBe(0)
  expect(stdout).toContain('Olive Owner')
})

test('with a profile that works at hand, the e-mails of the organisation are offered', async () => {
  const { type, url, sandbox } = await loggedIn()
  const prompter = new ScriptedPrompter([
    { ask: /API key/, secret: sandbox.credentials.apiKey },
    {
      ask: /User the calls are made for/,
      choose: 'max.member@example.com',
      offered: [
        owner,
        'ada.admin@example.com',
        'sam.support@example.com',
        'max.member@example.com',
        'Another e-mail',
      ],
    },
  ])
  const { code } = await type(['auth', 'login', '--base-url', url, '--profile', 'max'], { prompter })
  prompter.finish()
  expect(code).toBe(0)
  expect((await type(['auth', 'status', '--json'])).json()).toMatchObject({
    profile: 'max',
    user_email: 'max.member@example.com',
    works: true,
  })
})

test.each([
  ['a key of the wrong length', 'abc', owner, 2, 'has 3 characters instead of 32'],
  ['a key with a space', `${'x'.repeat(15)} ${'x'.repeat(16)}`, owner, 2, 'API key'],
  ['a key that is not accepted', 'x'.repeat(32), owner, 3, ''],
  ['a user of another organisation', undefined, 'stan.stranger@example.net', 4, ''],
  ['an inactive user', undefined, 'ivy.inactive@example.com', 4, ''],
  ['no address', undefined, 'nobody', 2, 'is not an address'],
  ['a line break in the e-mail', undefined, 'a@b.co\r\nX: y', 2, 'line break'],
])('%s: nothing is saved', async (_name, key, email, exit, message) => {
  const { type, url, folder, sandbox } = await newcomer()
  const stdin = key ?? sandbox.credentials.apiKey
  const argv = ['auth', 'login', '--base-url', url, '--email', email, '--with-key']
  const { code, stdout, stderr } = await type(argv, { stdin })
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
  expect(stderr).toContain(message)
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
  expect(stderr).not.toContain(stdin)
  expect(existsSync(join(folder, 'config', 'credentials.json'))).toBe(false)
})

test('without a terminal everything has to be given', async () => {
  const { type } = await newcomer()
  const { code, stderr } = await type(['auth', 'login'])
  expect(code).toBe(2)
  expect(stderr).toMatchInlineSnapshot(`
    "Error: there is no terminal to ask on, and --base-url URL, --with-key (the key on stdin), --email EMAIL is missing
    Give all three: refcheck auth login --base-url URL --email EMAIL --with-key < key.txt
    "
  `)
})

test('a key on the command line is refused and not repeated', async () => {
  const { type } = await newcomer()
  const key = 'k3y'.repeat(11).slice(0, 32)
  for (const argv of [
    ['auth', 'login', `--key=${key}`],
    ['auth', 'login', '--api-key', key],
    ['auth', 'login', key],
  ]) {
    const { code, stderr } = await type(argv)
    expect(code).toBe(2)
    expect(stderr).not.toContain(key)
  }
})

test('a new key of the same organisation: told which profiles held the old one', async () => {
  const { type, sandbox, url } = await loggedIn()
  const stdin = sandbox.renewKey()
  const argv = ['auth', 'login', '--base-url', url, '--email', owner, '--with-key', '--profile', 'second']
  const { code, stderr } = await type(argv, { stdin })
  expect(code).toBe(0)
  expect(stderr).toMatch(/Warning: Profile "default" held another key/)
  expect((await type(['auth', 'status', '--profile', 'default'])).code).toBe(3)
})

test('auth status tells where the key is kept, and fails when it no longer works', async () => {
  const { type, sandbox, url } = await loggedIn()
  const good = await type(['auth', 'status'])
  expect(good.stdout.replaceAll(url, 'URL').replace(/\*{4}\w{4}/, '****abcd')).toMatchInlineSnapshot(`
    "profile   default
    base URL  URL
    user      olive.owner@example.com (owner)
    key       ****abcd, from a private file; it works
    "
  `)
  sandbox.revokeKey()
  const bad = await type(['auth', 'status', '--json'])
  expect(bad.code).toBe(3)
  expect(bad.json()).toMatchObject({ works: false, user: null, error: { code: 'unauthenticated' } })
})

test('auth list, switch and logout', async () => {
  const { type, login, apiKey } = await loggedIn()
  await type([...login, '--profile', 'second'], { stdin: apiKey })
  const columns = ['auth', 'list', '--csv', '--columns', 'profile,current', '--no-header']
  expect((await type(columns)).stdout).toBe('default,false\nsecond,true\n')
  expect((await type(['auth', 'switch', 'default'])).stdout).toBe(
    'Profile "default" is in use from now on.\n',
  )
  expect((await type(columns)).stdout).toBe('default,true\nsecond,false\n')
  expect((await type(['auth', 'logout', 'second'])).code).toBe(0)
  expect((await type(columns)).stdout).toBe('default,true\n')
  expect((await type(['auth', 'logout'])).code).toBe(0)
  expect((await type(['packages', 'list'])).code).toBe(3)
  expect((await type(['auth', 'list'])).stdout).toBe('No profiles. Make one with: refcheck auth login\n')
})

test.each(['..', 'a.b', '__proto__', 'a/b', 'x'.repeat(65)])('profile name %j is refused', async (name) => {
  const { type, url, sandbox } = await newcomer()
  const argv = ['auth', 'login', '--base-url', url, '--email', owner, '--with-key', '--profile', name]
  const { code, stderr } = await type(argv, { stdin: sandbox.credentials.apiKey })
  expect(code).toBe(2)
  expect(stderr).toMatch(/profile name|profile/i)
  expect(sandbox.log.entries()).toEqual([])
})

test('a profile that is not there: the others are named', async () => {
  const { type } = await loggedIn()
  const { code, stderr } = await type(['packages', 'list', '--profile', 'nope'])
  expect(code).toBe(2)
  expect(stderr).toBe('Error: there is no profile "nope"\nThe profiles are default.\n')
})

test('a flag beats the environment, the environment beats the profile', async () => {
  const { type, folder, apiKey } = await loggedIn()
  const env = { ...emptyEnv(folder), REFCHECK_USER_EMAIL: 'max.member@example.com' }
  expect((await type(['auth', 'status', '--json'], { env })).json()).toMatchObject({
    user_email: 'max.member@example.com',
  })
  const flagged = await type(['auth', 'status', '--json', '--profile', 'default'], { env })
  expect(flagged.json()).toMatchObject({ user_email: owner })
  const elsewhere = { ...emptyEnv(folder), REFCHECK_BASE_URL: 'http://127.0.0.1:9' }
  const refused = await type(['packages', 'list'], { env: elsewhere })
  expect(refused.code).toBe(2)
  expect(refused.stderr).not.toContain(apiKey)
})
