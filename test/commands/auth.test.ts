import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { Answer } from '../harness/scripted-prompter.ts'
import { type Session, session } from '../harness/session.ts'

const owner = 'olive.owner@example.com'

const createLoginLine = (url: string, email = owner): string =>
  `auth login --base-url ${url} --email '${email}' --with-key`

/** Starts a session without service variables in the environment, and logs in. */
async function loggedInSession(): Promise<Session & { apiKey: string; login: string }> {
  const here = await session({ isLoggedOut: true })
  const { apiKey } = here.sandbox.credentials
  const login = createLoginLine(here.url)
  expect((await here.type(login, { stdin: `${apiKey}\n` })).code).toBe(0)
  return { ...here, apiKey, login }
}

test('auth login stores the key from stdin in a file of this account; later commands need no environment variables', async () => {
  const { type, url, folder, sandbox } = await session({ isLoggedOut: true })
  const { apiKey } = sandbox.credentials
  const login = await type(createLoginLine(url), { stdin: apiKey })
  expect(`${login.stdout}${login.stderr}`).not.toContain(apiKey)
  expect(login).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'olive.owner@example.com' --with-key <<EOF
    API_KEY
    EOF
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com, owner).
    Profile "default" is now in use. Its key is in a private file, readable only by you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active
    exit 0
  `)
  expect(await type('auth status')).toMatchInlineSnapshot(`
    $ refcheck auth status
    profile   default
    base URL  http://127.0.0.1:PORT
    user      olive.owner@example.com (owner)
    key       ****MaGM, from a private file; it works
    exit 0
  `)
  expect((await type('packages list')).code).toBe(0)
  const file = join(folder, 'config', 'credentials.json')
  expect(readFileSync(file, 'utf8')).toContain(apiKey)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'config')).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(folder, 'config', 'config.json'), 'utf8')).not.toContain(apiKey)
})

test('auth login asks for all values on a terminal; without a terminal all of them have to be given', async () => {
  const { type, url, sandbox } = await session({ isLoggedOut: true })
  expect(await type('auth login')).toMatchInlineSnapshot(`
    $ refcheck auth login
    2> Error: there is no terminal to ask on; missing: --base-url URL, --with-key, --email EMAIL
    2> Give all three with: refcheck auth login --base-url URL --email EMAIL --with-key < key.txt
    exit 2
  `)
  const answers: Answer[] = [
    { ask: /Base URL/, type: 'http://api.example.com', refused: /https/ },
    { ask: /Base URL/, type: `${url}/` },
    { ask: /API key/, secret: 'short', refused: /5 characters/ },
    { ask: /API key/, secret: sandbox.credentials.apiKey },
    { ask: /e-mail/, type: owner },
  ]
  expect(await type('auth login', { answers })).toMatchInlineSnapshot(`
    $ refcheck auth login
    ? Base URL of the service: http://api.example.com  (the base URL would call api.example.com unencrypted: https is required)
    ? Base URL of the service: http://127.0.0.1:PORT/
    ? API key (not shown): ****  (the API key has 5 characters instead of 32)
    ? API key (not shown): ****
    ? User e-mail: olive.owner@example.com
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com, owner).
    Profile "default" is now in use. Its key is in a private file, readable only by you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active
    exit 0
  `)
})

test('auth login offers the e-mails of the organisation if a stored profile works', async () => {
  const { type, url, sandbox } = await loggedInSession()
  const answers: Answer[] = [
    { ask: /API key/, secret: sandbox.credentials.apiKey },
    {
      ask: /User who makes the calls/,
      choose: 'max.member@example.com',
      offered: [
        owner,
        'ada.admin@example.com',
        'sam.support@example.com',
        'max.member@example.com',
        'cora.contributor@example.com',
        'Another e-mail',
      ],
    },
  ]
  expect(await type(`auth login --base-url ${url} --profile max`, { answers })).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --profile max
    ? API key (not shown): ****
    ? User who makes the calls: max.member@example.com
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Max Member (max.member@example.com, member).
    Profile "max" is now in use. Its key is in a private file, readable only by you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active --profile max
    exit 0
  `)
  expect(await type('auth status --json')).toMatchInlineSnapshot(`
    $ refcheck auth status --json
    {
      "profile": "max",
      "base_url": "http://127.0.0.1:PORT",
      "user_email": "max.member@example.com",
      "key_from": "file",
      "key": "****MaGM",
      "works": true,
      "user": {
        "id": "ID_1",
        "first_name": "Max",
        "last_name": "Member",
        "email": "max.member@example.com",
        "role": "member",
        "permissions": [
          "bgc.requestor",
          "exit.none",
          "pulse.analyst",
          "reference.requestor"
        ],
        "teams": [
          {
            "id": "ID_2",
            "name": "Hiring"
          }
        ],
        "job_title": "Recruiter"
      }
    }
    exit 0
  `)
})

test('credentials that are invalid, or that the service refuses, are not saved', async () => {
  const { type, url, folder, sandbox } = await session({ isLoggedOut: true })
  const { apiKey } = sandbox.credentials
  expect(await type(createLoginLine(url), { stdin: 'abc' })).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'olive.owner@example.com' --with-key <<EOF
    abc
    EOF
    2> Error: the API key has 3 characters instead of 32
    2> Copy it again from the organisation settings: 32 characters, with nothing before or after.
    exit 2
  `)
  expect(await type(createLoginLine(url), { stdin: `${'x'.repeat(15)} ${'x'.repeat(16)}` }))
    .toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'olive.owner@example.com' --with-key <<EOF
    xxxxxxxxxxxxxxx xxxxxxxxxxxxxxxx
    EOF
    2> Error: the API key has 32 characters, but number 16 is a space, a line break or not plain ASCII
    2> Copy it again from the organisation settings: 32 characters, with nothing before or after.
    exit 2
  `)
  expect(await type(createLoginLine(url), { stdin: 'x'.repeat(32) })).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'olive.owner@example.com' --with-key <<EOF
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    EOF
    2> Error: invalid API key
    2> A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login
    exit 3
  `)
  expect(await type(createLoginLine(url, 'stan.stranger@example.net'), { stdin: apiKey }))
    .toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'stan.stranger@example.net' --with-key <<EOF
    API_KEY
    EOF
    2> Error: user is not an active member of the organisation
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    exit 4
  `)
  expect(await type(createLoginLine(url, 'ivy.inactive@example.com'), { stdin: apiKey }))
    .toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'ivy.inactive@example.com' --with-key <<EOF
    API_KEY
    EOF
    2> Error: user is not an active member of the organisation
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    exit 4
  `)
  expect(await type(createLoginLine(url, 'nobody'), { stdin: apiKey })).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'nobody' --with-key <<EOF
    API_KEY
    EOF
    2> Error: the e-mail is not valid
    2> Give the e-mail of an active user of the organisation, like ana@example.com.
    exit 2
  `)
  const invalidLogin = ['auth', 'login', '--base-url', url, '--email', 'a@b.co\r\nX: y', '--with-key']
  expect(await type(invalidLogin, { stdin: apiKey })).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'a@b.co\\r\\nX: y' --with-key <<EOF
    API_KEY
    EOF
    2> Error: the e-mail contains a line break or another control character
    2> Give the e-mail of an active user of the organisation, like ana@example.com.
    exit 2
  `)
  expect(existsSync(join(folder, 'config', 'credentials.json'))).toBe(false)
})

test('a key on the command line is refused and not repeated', async () => {
  const { type } = await session({ isLoggedOut: true })
  const key = 'k3y'.repeat(11).slice(0, 32)
  for (const argv of [`--key=${key}`, `--api-key ${key}`, key]) {
    const { code, stderr } = await type(`auth login ${argv}`)
    expect(code).toBe(2)
    expect(stderr).not.toContain(key)
  }
  expect((await type(`auth login --key=${key}`)).stderr).toMatchInlineSnapshot(`
    "Error: unknown flag --key
    Keys and secrets are refused on the command line. Give them on stdin, at the prompt, or in the environment.
    "
  `)
})

test('a login with a new key of the same organisation reports the profiles that have the old key', async () => {
  const { type, sandbox, login } = await loggedInSession()
  const stdin = sandbox.renewKey()
  expect(await type(`${login} --profile second`, { stdin })).toMatchInlineSnapshot(`
    $ refcheck auth login --base-url http://127.0.0.1:PORT --email 'olive.owner@example.com' --with-key --profile second <<EOF
    API_KEY
    EOF
    2> No system keychain is available.
    2> Warning: Profile "default" had another key for the same base URL. If it is the same organisation, the new key has revoked that one.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com, owner).
    Profile "second" is now in use. Its key is in a private file, readable only by you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active --profile second
    exit 0
  `)
  expect(await type('auth status --profile default')).toMatchInlineSnapshot(`
    $ refcheck auth status --profile default
    profile   default
    base URL  http://127.0.0.1:PORT
    user      olive.owner@example.com
    key       ****MaGM, from a private file; it does not work
    2> Error: invalid API key
    2> A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login --profile default
    exit 3
  `)
  expect(await type('batch list --profile default')).toMatchInlineSnapshot(`
    $ refcheck batch list --profile default
    No batches in this store. Start one with: refcheck batch run FILE --profile default
    exit 0
  `)
  expect(await type('auth status --profile default --json')).toMatchInlineSnapshot(`
    $ refcheck auth status --profile default --json
    {
      "profile": "default",
      "base_url": "http://127.0.0.1:PORT",
      "user_email": "olive.owner@example.com",
      "key_from": "file",
      "key": "****MaGM",
      "works": false,
      "user": null,
      "error": {
        "code": "unauthenticated",
        "message": "invalid API key",
        "hint": "A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login --profile default",
        "status": 401
      }
    }
    2> Error: invalid API key
    exit 3
  `)
})

test('auth list shows the profiles, auth switch selects one, and auth logout removes one', async () => {
  const { type, all, login, apiKey } = await loggedInSession()
  await type(`${login} --profile second`, { stdin: apiKey })
  expect(
    await all([
      'auth list --columns profile,current',
      'auth switch default',
      'auth list --columns profile,current',
      'auth logout second',
      'auth list',
      'packages list --profile nope',
      'auth logout',
      'packages list',
      'auth list',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck auth list --columns profile,current
    PROFILE  CURRENT
    default
    second   *
    exit 0

    $ refcheck auth switch default
    Profile "default" is now in use.
    exit 0

    $ refcheck auth list --columns profile,current
    PROFILE  CURRENT
    default  *
    second
    exit 0

    $ refcheck auth logout second
    Profile "second", its key and its secrets are removed.
    exit 0

    $ refcheck auth list
    CURRENT  PROFILE  BASE URL                USER EMAIL               KEY       KEY FROM
    *        default  http://127.0.0.1:PORT   olive.owner@example.com  ****MaGM  file
    exit 0

    $ refcheck packages list --profile nope
    2> Error: no profile named "nope"
    2> Profiles: default
    exit 2

    $ refcheck auth logout
    Profile "default", its key and its secrets are removed.
    exit 0

    $ refcheck packages list
    2> Error: you are not logged in
    2> Log in with: refcheck auth login
    2> In a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead.
    exit 3

    $ refcheck auth list
    No profiles. Add one with: refcheck auth login
    exit 0
  `)
})

test('an invalid profile name is refused before a call', async () => {
  const { type, login, sandbox, listCalls } = await loggedInSession()
  const stdin = sandbox.credentials.apiKey
  const before = listCalls().length
  const names = ['..', 'a.b', '__proto__', 'a/b', 'x'.repeat(65)]
  const messages: string[] = []
  for (const name of names) messages.push((await type(`${login} --profile ${name}`, { stdin })).stderr)
  expect(messages.join('')).toMatchInlineSnapshot(`
    "Error: ".." is not a valid name for a profile
    Use letters, digits, - and _, at most 64 characters.
    Error: "a.b" is not a valid name for a profile
    Use letters, digits, - and _, at most 64 characters.
    Error: "__proto__" is not a valid name for a profile
    Use letters, digits, - and _, at most 64 characters.
    Error: "a/b" is not a valid name for a profile
    Use letters, digits, - and _, at most 64 characters.
    Error: "…" is not a valid name for a profile
    Use letters, digits, - and _, at most 64 characters.
    "
  `)
  expect(listCalls()).toHaveLength(before)
})

test('a flag overrides the environment, the environment overrides the profile', async () => {
  const { type, apiKey } = await loggedInSession()
  const env = { REFCHECK_USER_EMAIL: 'max.member@example.com' }
  expect(await type('auth status', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_USER_EMAIL=max.member@example.com refcheck auth status
    profile   default
    base URL  http://127.0.0.1:PORT
    user      max.member@example.com (member)
    key       ****MaGM, from a private file; it works
    exit 0
  `)
  expect(await type('auth status --profile default', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_USER_EMAIL=max.member@example.com refcheck auth status --profile default
    profile   default
    base URL  http://127.0.0.1:PORT
    user      olive.owner@example.com (owner)
    key       ****MaGM, from a private file; it works
    exit 0
  `)
  const outcome = await type('packages list', { env: { REFCHECK_BASE_URL: 'http://127.0.0.1:9' } })
  expect(outcome.stderr).not.toContain(apiKey)
  expect(outcome).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://127.0.0.1:9 refcheck packages list
    2> Error: REFCHECK_BASE_URL is http://127.0.0.1:9, but the key of profile "default" is for http://127.0.0.1:PORT
    2> Set REFCHECK_API_KEY and REFCHECK_USER_EMAIL as well, or unset REFCHECK_BASE_URL.
    exit 2
  `)
})
