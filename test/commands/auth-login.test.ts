import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import type { Answer } from '../harness/scripted-prompter.ts'
import { session } from '../harness/session.ts'

const owner = 'olive.owner@example.com'

test('auth login checks the URL first, and asks again only the question whose answer was refused, with that answer filled in', async () => {
  const { type, url, sandbox, listCalls } = await session({ isLoggedOut: true })
  const { apiKey } = sandbox.credentials
  const nowhere = 'http://127.0.0.1:1'
  const answers: Answer[] = [
    { ask: /Base URL/, type: nowhere },
    { ask: /Base URL/, initial: nowhere, type: url },
    { ask: /API key/, secret: 'x'.repeat(32) },
    { ask: /e-mail/, type: 'olive@example.com' },
    { ask: /API key/, secret: apiKey },
    { ask: /e-mail/, initial: 'olive@example.com', type: owner },
  ]
  expect(await type('auth login', { answers })).toMatchInlineSnapshot(`
    $ refcheck auth login
    ? Base URL of the service: http://127.0.0.1:1
    2> 127.0.0.1:1: connection refused; try 2 of 4 in 0.4 s
    2> 127.0.0.1:1: connection refused; try 3 of 4 in 0.5 s
    2> 127.0.0.1:1: connection refused; try 4 of 4 in 1.5 s
    2> Warning: 127.0.0.1:1: connection refused
    ? Base URL of the service: http://127.0.0.1:PORT
    ? API key (not shown): ****
    ? User e-mail: olive@example.com
    2> Warning: invalid API key
    ? API key (not shown): ****
    2> Warning: user is not an active member of the organisation
    ? User e-mail: olive.owner@example.com
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com, owner).
    Profile "default" is now in use. Its key is in a private file, readable only by you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active
    exit 0
  `)
  expect(listCalls()).toMatchInlineSnapshot(`
    [
      "GET /v1/ping 200",
      "GET /v1/users 401",
      "GET /v1/users 403",
      "GET /v1/users 200",
    ]
  `)
})

test('to renew a key, auth login asks only for the key of the profile that is named or chosen', async () => {
  const { type, url, sandbox } = await session({ isLoggedOut: true })
  const { apiKey } = sandbox.credentials
  await type(`auth login --base-url ${url} --email ${owner} --profile main --with-key`, { stdin: apiKey })
  await type(`auth login --base-url ${url} --email max.member@example.com --profile max --with-key`, {
    stdin: apiKey,
  })
  const key: Answer = { ask: /API key/, secret: apiKey }
  expect(await type('auth login --profile main', { answers: [key] })).toMatchInlineSnapshot(`
    $ refcheck auth login --profile main
    ? API key (not shown): ****
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Olive Owner (olive.owner@example.com, owner).
    Profile "main" is now in use. Its key is in a private file, readable only by you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active --profile main
    exit 0
  `)
  const choice: Answer = {
    ask: 'What do you want to do?',
    choose: 'Renew the key of profile "max"',
    offered: [
      'Renew the key of profile "main"',
      'Renew the key of profile "max"',
      'Log in to another service or as another user',
    ],
  }
  expect(await type('auth login', { answers: [choice, key] })).toMatchInlineSnapshot(`
    $ refcheck auth login
    ? What do you want to do?: Renew the key of profile "max"
    ? API key (not shown): ****
    2> No system keychain is available.
    Logged in to http://127.0.0.1:PORT as Max Member (max.member@example.com, member).
    Profile "max" is now in use. Its key is in a private file, readable only by you: HOME/config/credentials.json
    2> Next, see what can be ordered: refcheck packages list --status active
    exit 0
  `)
})

test('auth switch without a name offers the profiles, and is refused without a terminal', async () => {
  const { type, url, sandbox } = await session({ isLoggedOut: true })
  const { apiKey } = sandbox.credentials
  expect(await type('auth switch')).toMatchInlineSnapshot(`
    $ refcheck auth switch
    2> Error: there is no profile yet
    2> Log in with: refcheck auth login
    exit 2
  `)
  for (const name of ['main', 'spare']) {
    await type(`auth login --base-url ${url} --email ${owner} --profile ${name} --with-key`, {
      stdin: apiKey,
    })
  }
  const answers: Answer[] = [{ ask: 'Which profile?', choose: /^main:/ }]
  expect(await type('auth switch', { answers })).toMatchInlineSnapshot(`
    $ refcheck auth switch
    ? Which profile?: main: olive.owner@example.com at http://127.0.0.1:PORT
    Profile "main" is now in use.
    exit 0
  `)
  expect(await type('auth switch')).toMatchInlineSnapshot(`
    $ refcheck auth switch
    2> Error: the name of a profile is required
    2> List the profiles with: refcheck auth list
    exit 2
  `)
})

test('auth login reports a URL without a service, and refuses a URL that ends in a version', async () => {
  const { type, url, sandbox } = await session({ isLoggedOut: true })
  const answers: Answer[] = [
    { ask: /Base URL/, type: `${url}/checks` },
    { ask: /Base URL/, initial: `${url}/checks`, type: url },
    { ask: /API key/, secret: sandbox.credentials.apiKey },
    { ask: /e-mail/, type: owner },
  ]
  expect((await type('auth login', { answers })).stderr).toContain(
    'Warning: there is no service at http://127.0.0.1:',
  )
  const version = await type(
    'auth login --base-url https://api.example.com/v1 --email a@example.com --with-key',
    {
      stdin: sandbox.credentials.apiKey,
    },
  )
  expect(version.stderr).toContain('ends in /v1: leave /v1 out')
})

test('auth logout names the rows that stay open, with the command that shows them after the next login', async () => {
  const here = await session({ isLoggedOut: true })
  const login = `auth login --base-url ${here.url} --email olive.owner@example.com --with-key`
  await here.type(login, { stdin: here.sandbox.credentials.apiKey })
  writePeopleFile(here.folder, createEmails(3))
  await here.type('batch queue people.csv --package 102 --yes')
  expect(await here.type('auth logout')).toMatchInlineSnapshot(`
    $ refcheck auth logout
    Profile "default", its key and its secrets are removed.
    2> Still open at 127.0.0.1:PORT: 3 rows wait to be sent. After the next login, continue with: refcheck status
    exit 0
  `)
})
