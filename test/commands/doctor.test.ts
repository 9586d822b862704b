import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { doctorSession } from '../harness/doctor-session.ts'
import { orderArguments } from '../harness/people.ts'

test('if all checks pass, doctor prints one line per check and exits with 0', async () => {
  const { type } = await doctorSession()
  await type(orderArguments('Priya'))
  expect(await type('doctor')).toMatchInlineSnapshot(`
    $ refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         sound: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    ok    quota         57 of 60 and 997 of 1000 calls left, as far as this store knows
    exit 0
  `)
  const { checks } = (await type('doctor --json')).json() as { checks: { level: string; hint: null }[] }
  expect(checks.map(({ level, hint }) => [level, hint])).toEqual(checks.map(() => ['ok', null]))
})

test('without a login, doctor names the first command to run, and creates no files', async () => {
  const { type, folder } = await doctorSession({ isLoggedOut: true })
  expect(await type('doctor')).toMatchInlineSnapshot(`
    $ refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         not created yet; the first order creates it: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    fail  profile       you are not logged in
                        Log in with: refcheck auth login
                        In a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead.
    fail  service       the base URL is missing
                        Log in with: refcheck auth login
                        In a script, set REFCHECK_BASE_URL instead.
    warn  clock         not checked, because "service" failed
    warn  key           not checked, because "profile" failed
    warn  quota         not checked, because "profile" failed
    2> Error: you are not logged in
    2> Log in with: refcheck auth login
    2> In a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead.
    exit 3
  `)
  expect(await type('doctor --json')).toMatchInlineSnapshot(`
    $ refcheck doctor --json
    {
      "checks": [
        {
          "check": "node",
          "level": "ok",
          "message": "NODE",
          "hint": null
        },
        {
          "check": "folders",
          "level": "ok",
          "message": "settings in HOME/config, data in HOME/data",
          "hint": null
        },
        {
          "check": "writing",
          "level": "ok",
          "message": "a file can be written in each",
          "hint": null
        },
        {
          "check": "privacy",
          "level": "ok",
          "message": "no other user of this machine can read these files",
          "hint": null
        },
        {
          "check": "certificates",
          "level": "ok",
          "message": "checked against Node’s own authorities",
          "hint": null
        },
        {
          "check": "proxy",
          "level": "ok",
          "message": "none; calls go directly",
          "hint": null
        },
        {
          "check": "store",
          "level": "ok",
          "message": "not created yet; the first order creates it: HOME/data/ledger.sqlite",
          "hint": null
        },
        {
          "check": "retention",
          "level": "ok",
          "message": "no limit: personal data is kept until it is purged (refcheck help privacy)",
          "hint": null
        },
        {
          "check": "profile",
          "level": "fail",
          "message": "you are not logged in",
          "hint": "Log in with: refcheck auth login\\nIn a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead."
        },
        {
          "check": "service",
          "level": "fail",
          "message": "the base URL is missing",
          "hint": "Log in with: refcheck auth login\\nIn a script, set REFCHECK_BASE_URL instead."
        },
        {
          "check": "clock",
          "level": "warn",
          "message": "not checked, because \\"service\\" failed",
          "hint": null
        },
        {
          "check": "key",
          "level": "warn",
          "message": "not checked, because \\"profile\\" failed",
          "hint": null
        },
        {
          "check": "quota",
          "level": "warn",
          "message": "not checked, because \\"profile\\" failed",
          "hint": null
        }
      ],
      "error": {
        "code": "unauthenticated",
        "message": "you are not logged in",
        "hint": "Log in with: refcheck auth login\\nIn a script, set REFCHECK_API_KEY, REFCHECK_USER_EMAIL and REFCHECK_BASE_URL instead."
      }
    }
    2> Error: you are not logged in
    exit 3
  `)
  expect(existsSync(join(folder, 'data'))).toBe(false)
})

test('an unreachable service, an invalid key and an e-mail without an active user have different exit codes', async () => {
  const { type } = await doctorSession()
  expect(await type('doctor', { env: { REFCHECK_BASE_URL: 'http://127.0.0.1:9' } })).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://127.0.0.1:9 refcheck doctor
    2> 127.0.0.1:9: connection refused; try 2 of 4 in 0.4 s
    2> 127.0.0.1:9: connection refused; try 3 of 4 in 0.5 s
    2> 127.0.0.1:9: connection refused; try 4 of 4 in 1.5 s
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         not created yet; the first order creates it: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:9 as olive.owner@example.com, key ****MaGM from the environment
    fail  service       127.0.0.1:9: connection refused
                        Check the base URL, and that the service is running.
    warn  clock         not checked, because "service" failed
    warn  key           not checked, because "service" failed
    ok    quota         60 of 60 and 1000 of 1000 calls left, as far as this store knows
    2> Error: 127.0.0.1:9: connection refused
    2> Check the base URL, and that the service is running.
    exit 7
  `)
  expect(await type('doctor', { env: { REFCHECK_API_KEY: 'x'.repeat(32) } })).toMatchInlineSnapshot(`
    $ REFCHECK_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         sound: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****xxxx from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    fail  key           invalid API key
                        A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login
    ok    quota         60 of 60 and 1000 of 1000 calls left, as far as this store knows
    2> Error: invalid API key
    2> A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login
    exit 3
  `)
  expect(await type('doctor', { env: { REFCHECK_USER_EMAIL: 'nobody@example.com' } })).toMatchInlineSnapshot(`
    $ REFCHECK_USER_EMAIL=nobody@example.com refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         sound: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as nobody@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    fail  key           user is not an active member of the organisation
                        The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    ok    quota         60 of 60 and 1000 of 1000 calls left, as far as this store knows
    2> Error: user is not an active member of the organisation
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    exit 4
  `)
})

test('a store file that is not a database fails with exit 1, and the other checks run', async () => {
  const { type, write } = await doctorSession()
  write('notes.txt', 'not a database, but longer than a header of a hundred bytes would be. '.repeat(9))
  expect(await type('doctor', { env: { REFCHECK_STORE: 'notes.txt' } })).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=notes.txt refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    warn  privacy       other users of this machine could read "HOME/notes.txt" (0644)
                        Run chmod go= on each. It changes nothing on a file that refcheck has just made private.
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    fail  store         cannot use the store "HOME/notes.txt": it is not a refcheck store, or is damaged
                        Choose another file with REFCHECK_STORE, or restore a backup.
    warn  retention     not checked, because "store" failed
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    fail  quota         cannot use the store "HOME/notes.txt": it is not a refcheck store, or is damaged
                        Choose another file with REFCHECK_STORE, or restore a backup.
    2> Error: cannot use the store "HOME/notes.txt": it is not a refcheck store, or is damaged
    2> Choose another file with REFCHECK_STORE, or restore a backup.
    exit 1
  `)
})

test('a store with damaged pages fails with exit 1', async () => {
  const { type, folder } = await doctorSession()
  await type(orderArguments('Priya'))
  const file = join(folder, 'data', 'ledger.sqlite')
  const { size } = statSync(file)
  const handle = await open(file, 'r+')
  const page = 4096
  for (let at = 3 * page; at < size; at += page) await handle.write(Buffer.alloc(64, 0xff), 0, 64, at)
  await handle.close()
  expect(await type('doctor')).toMatchInlineSnapshot(`
    $ refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    fail  store         cannot use the store "HOME/data/ledger.sqlite": it is damaged
                        Keep the damaged file, since it may still hold orders, and restore a backup.
    warn  retention     not checked, because "store" failed
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    fail  quota         cannot use the store "HOME/data/ledger.sqlite": it is damaged
                        Keep the damaged file, since it may still hold orders, and restore a backup.
    2> Error: cannot use the store "HOME/data/ledger.sqlite": it is damaged
    2> Keep the damaged file, since it may still hold orders, and restore a backup.
    exit 1
  `)
})

test('a private file that others can read is reported, and made private', async () => {
  const { type, folder } = await doctorSession()
  await type(orderArguments('Priya'))
  const file = join(folder, 'data', 'ledger.sqlite')
  chmodSync(file, 0o644)
  expect(await type('doctor')).toMatchInlineSnapshot(`
    $ refcheck doctor
    2> The store’s file "HOME/data/ledger.sqlite" was readable by other users (0644); it is now private (0600).
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    warn  privacy       other users of this machine could read "HOME/data/ledger.sqlite" (0644)
                        Run chmod go= on each. It changes nothing on a file that refcheck has just made private.
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         sound: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    ok    quota         57 of 60 and 997 of 1000 calls left, as far as this store knows
    exit 0
  `)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('an invalid quota and damaged settings are reported as failed checks; the other checks run', async () => {
  const { type, folder } = await doctorSession()
  expect(await type('doctor', { env: { REFCHECK_QUOTA: 'lots' } })).toMatchInlineSnapshot(`
    $ REFCHECK_QUOTA=lots refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    ok    store         not created yet; the first order creates it: HOME/data/ledger.sqlite
    ok    retention     no limit: personal data is kept until it is purged (refcheck help privacy)
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    ok    service       http://127.0.0.1:PORT answers in # ms
    ok    clock         agrees with the service’s clock
    ok    key           works; olive.owner@example.com is owner
    fail  quota         REFCHECK_QUOTA: "lots" is not a quota window
                        Give calls/seconds, separated by commas, such as: 60/60,1000/3600
    2> Error: REFCHECK_QUOTA: "lots" is not a quota window
    2> Give calls/seconds, separated by commas, such as: 60/60,1000/3600
    exit 2
  `)
  mkdirSync(join(folder, 'config'), { mode: 0o700 })
  writeFileSync(join(folder, 'config', 'config.json'), '{bad', { mode: 0o600 })
  expect(await type('doctor')).toMatchInlineSnapshot(`
    $ refcheck doctor
    ok    node          NODE
    ok    folders       settings in HOME/config, data in HOME/data
    ok    writing       a file can be written in each
    ok    privacy       no other user of this machine can read these files
    ok    certificates  checked against Node’s own authorities
    ok    proxy         none; calls go directly
    fail  store         "HOME/config/config.json" is damaged: it is not JSON (line 1 column 2)
                        It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login
    warn  retention     not checked, because "store" failed
    ok    profile       none; everything comes from the environment: http://127.0.0.1:PORT as olive.owner@example.com, key ****MaGM from the environment
    fail  service       "HOME/config/config.json" is damaged: it is not JSON (line 1 column 2)
                        It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login
    warn  clock         not checked, because "service" failed
    warn  key           not checked, because "service" failed
    fail  quota         "HOME/config/config.json" is damaged: it is not JSON (line 1 column 2)
                        It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login
    2> Error: "HOME/config/config.json" is damaged: it is not JSON (line 1 column 2)
    2> It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login
    exit 1
  `)
})

test('an API key saved as a profile name is neither printed nor written to the bug report', async () => {
  const { type, folder } = await doctorSession()
  const key = 'EqQm4LRGWP4mk2aEguhezNLhRkBuyRra'
  mkdirSync(join(folder, 'config'), { mode: 0o700 })
  const settings = JSON.stringify({ profiles: { [key]: { base_url: 'https://api.example.com' } } })
  writeFileSync(join(folder, 'config', 'config.json'), settings, { mode: 0o600 })
  const { stdout, stderr, code } = await type('doctor --report report.txt')
  expect(code).toBe(1)
  expect(stdout + stderr).not.toContain(key)
  const report = readFileSync(join(folder, 'report.txt'), 'utf8')
  expect(JSON.parse(report)).toMatchObject({ refcheck_bug_report: 1 })
  expect(report).not.toContain(key)
})
