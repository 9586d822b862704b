import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

test('config set, get, list and unset change and show settings', async () => {
  const { all, type } = await session({ isLoggedOut: true })
  expect(
    await all([
      'config set package 12',
      'config set output-dir reports --json',
      'config get package',
      'config get output-dir',
      'config unset output-dir',
      'config list',
      'config unset package',
      'config unset package',
      'config get package',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck config set package 12
    package is 12
    exit 0

    $ refcheck config set output-dir reports --json
    {
      "key": "output-dir",
      "value": "HOME/reports",
      "profile": null
    }
    exit 0

    $ refcheck config get package
    12
    exit 0

    $ refcheck config get output-dir
    HOME/reports
    exit 0

    $ refcheck config unset output-dir
    output-dir is no longer set
    exit 0

    $ refcheck config list
    KEY              VALUE  FROM      MEANING
    package          12     settings  Package to order
    output-dir       -      -         Folder for reports
    store            -      -         Where orders are recorded: a file, or postgres://…
    account          -      -         Whose people these are, where one store serves several organisations
    concurrency      -      -         Number of downloads at a time, 1 to 64
    timeout          -      -         Longest total wait for retries and quota
    encoding         -      -         Encoding of batch files that are not UTF-8
    default-country  -      -         Country of phone numbers without a country code
    retention        -      -         How long personal data of what ended is kept; store purge or a worker removes it: 365d, 24mo, 7y
    exit 0

    $ refcheck config unset package
    package is no longer set
    exit 0

    $ refcheck config unset package
    package was not set
    exit 0

    $ refcheck config get package
    2> Error: package is not set
    2> Set it with: refcheck config set package VALUE
    exit 5
  `)
  expect(await type('config list --json')).toMatchInlineSnapshot(`
    $ refcheck config list --json
    [
      {
        "key": "package",
        "value": null,
        "from": null,
        "meaning": "Package to order"
      },
      {
        "key": "output-dir",
        "value": null,
        "from": null,
        "meaning": "Folder for reports"
      },
      {
        "key": "store",
        "value": null,
        "from": null,
        "meaning": "Where orders are recorded: a file, or postgres://…"
      },
      {
        "key": "account",
        "value": null,
        "from": null,
        "meaning": "Whose people these are, where one store serves several organisations"
      },
      {
        "key": "concurrency",
        "value": null,
        "from": null,
        "meaning": "Number of downloads at a time, 1 to 64"
      },
      {
        "key": "timeout",
        "value": null,
        "from": null,
        "meaning": "Longest total wait for retries and quota"
      },
      {
        "key": "encoding",
        "value": null,
        "from": null,
        "meaning": "Encoding of batch files that are not UTF-8"
      },
      {
        "key": "default-country",
        "value": null,
        "from": null,
        "meaning": "Country of phone numbers without a country code"
      },
      {
        "key": "retention",
        "value": null,
        "from": null,
        "meaning": "How long personal data of what ended is kept; store purge or a worker removes it: 365d, 24mo, 7y"
      }
    ]
    exit 0
  `)
})

test('invalid settings and values are refused with exit 2 and a hint', async () => {
  const { all } = await session({ isLoggedOut: true })
  expect(
    await all([
      'config set package abc',
      'config set package 1e3',
      'config set concurrency 65',
      'config set timeout 5',
      'config set default-country ZZZ',
      'config set nope 1',
      'config set __proto__ 1',
      'config set package',
      'config get nope',
      'config unset nope',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck config set package abc
    2> Error: package: "abc" is not a package id, a whole number above 0
    2> For example: refcheck config set package 12
    exit 2

    $ refcheck config set package 1e3
    2> Error: package: "1e3" is not a package id, a whole number above 0
    2> For example: refcheck config set package 12
    exit 2

    $ refcheck config set concurrency 65
    2> Error: concurrency: "65" is not a whole number from 1 to 64
    2> For example: refcheck config set concurrency 4
    exit 2

    $ refcheck config set timeout 5
    2> Error: timeout: "5" is not a duration
    2> For example: refcheck config set timeout 5m
    exit 2

    $ refcheck config set default-country ZZZ
    2> Error: default-country: "ZZZ" is not a two-letter country code
    2> For example: refcheck config set default-country AU
    exit 2

    $ refcheck config set nope 1
    2> Error: no setting named "nope"
    2> Settings: package, output-dir, store, account, concurrency, timeout, encoding, default-country, retention
    exit 2

    $ refcheck config set __proto__ 1
    2> Error: no setting named "__proto__"
    2> Settings: package, output-dir, store, account, concurrency, timeout, encoding, default-country, retention
    exit 2

    $ refcheck config set package
    2> Error: package: the value is missing
    2> Set it with: refcheck config set package VALUE
    exit 2

    $ refcheck config get nope
    2> Error: no setting named "nope"
    2> Settings: package, output-dir, store, account, concurrency, timeout, encoding, default-country, retention
    exit 2

    $ refcheck config unset nope
    2> Error: no setting named "nope"
    2> Settings: package, output-dir, store, account, concurrency, timeout, encoding, default-country, retention
    exit 2
  `)
})

test('the webhook secret is read from stdin or the prompt, is refused on the command line, and is stored with the key', async () => {
  const { type, sandbox, url } = await session({ isLoggedOut: true })
  const login = ['auth', 'login', '--base-url', url, '--email', 'olive.owner@example.com', '--with-key']
  await type(login, { stdin: sandbox.credentials.apiKey })
  expect(await type('config set webhook-secret', { stdin: 'a secret\n' })).toMatchInlineSnapshot(`
    $ refcheck config set webhook-secret <<EOF
    a secret
    EOF
    The webhook secret of profile "default" is kept in a private file.
    exit 0
  `)
  const signed = await type('webhook sign', { stdin: 'x' })
  expect(signed.code).toBe(0)
  expect(await type('config set webhook-secret', { answers: [{ ask: /Webhook secret/, secret: 'another' }] }))
    .toMatchInlineSnapshot(`
    $ refcheck config set webhook-secret
    ? Webhook secret (not shown): ****
    The webhook secret of profile "default" is kept in a private file.
    exit 0
  `)
  expect((await type('webhook sign', { stdin: 'x' })).stdout).not.toBe(signed.stdout)
  const refused = await type('config set webhook-secret topsecret')
  expect(refused.stderr).not.toContain('topsecret')
  expect(refused).toMatchInlineSnapshot(`
    $ refcheck config set webhook-secret topsecret
    2> Error: a webhook secret is refused on the command line
    2> Type it at the prompt, or pipe it in: refcheck config set webhook-secret < secret.txt
    exit 2
  `)
  expect(await type('config set webhook-secret', { stdin: '\n' })).toMatchInlineSnapshot(`
    $ refcheck config set webhook-secret <<EOF

    EOF
    2> Error: the webhook secret is empty
    2> Give the secret of the organisation’s webhook. Without one, anybody could sign.
    exit 2
  `)
  expect(await type('config unset webhook-secret')).toMatchInlineSnapshot(`
    $ refcheck config unset webhook-secret
    webhook-secret is no longer set
    exit 0
  `)
  expect(await type('webhook sign', { stdin: 'x' })).toMatchInlineSnapshot(`
    $ refcheck webhook sign <<EOF
    x
    EOF
    2> Error: the webhook secret is missing
    2> Set REFCHECK_WEBHOOK_SECRET, or save it with: refcheck config set webhook-secret
    exit 2
  `)
})

test('the package of the settings is ordered if --package is left out', async () => {
  const { type } = await session()
  await type('config set package 105')
  expect(await type('request create --yes')).toMatchInlineSnapshot(`
    $ refcheck request create --yes
    2> Error: package 105 (Graduate screen (paused)) is INACTIVE; only ACTIVE packages can be ordered
    2> Nothing was sent. Look for a successor with: refcheck packages list --status active
    exit 2
  `)
})
