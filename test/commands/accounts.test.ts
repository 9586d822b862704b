import { describe, expect, test } from 'vitest'

import { connectAgent } from '../harness/agent.ts'
import { writePeopleFile } from '../harness/batch-file.ts'
import { orderBody, addAgentPlan } from '../harness/agent-plans.ts'
import { type Session, session } from '../harness/session.ts'

const orderLine = (name: string): string =>
  `request create --package 102 --first-name ${name} --last-name Example --email ${name}@example.com --phone +61412345678 --yes`

const underAccount = (account: string) => ({ env: { REFCHECK_ACCOUNT: account } })

/** Starts a session with one order under the account `acme`. */
async function sessionWithAcme(store: 'SQLite' | 'PostgreSQL' = 'SQLite'): Promise<Session> {
  const here = await session({ store })
  expect((await here.type(orderLine('ann'), underAccount('acme'))).code).toBe(0)
  return here
}

describe.each(['SQLite', 'PostgreSQL'] as const)('accounts of a store (%s)', (store) => {
  test('a store without orders adds the first account that an order names, and reports it', async () => {
    const here = await session({ store })
    expect(await here.all(['store accounts', orderLine('ann'), 'store accounts'], underAccount('acme')))
      .toMatchInlineSnapshot(`
      $ REFCHECK_ACCOUNT=acme refcheck store accounts
      This store has no account yet. The first one that an order names is added by itself.
      exit 0

      $ REFCHECK_ACCOUNT=acme refcheck request create --package 102 --first-name ann --last-name Example --email ann@example.com --phone +61412345678 --yes
      2> The account "acme" becomes the first one of this store.
      created  REQUEST_1                             RECEIVED
      2> Follow it with: refcheck request wait REQUEST_1
      exit 0

      $ REFCHECK_ACCOUNT=acme refcheck store accounts
      ACCOUNT  PEOPLE  ATTEMPTS  LAST USED AT
      acme     1       1         2026-11-20 12:00 +00:00
      exit 0
    `)
  })

  test('an order under an account that the store does not have is refused, and stores and sends nothing', async () => {
    const here = await sessionWithAcme(store)
    const calls = here.listCalls().length
    const before = (await here.type('store info --json')).json()
    expect(await here.type(orderLine('ann'), underAccount('acmee'))).toMatchInlineSnapshot(`
      $ REFCHECK_ACCOUNT=acmee refcheck request create --package 102 --first-name ann --last-name Example --email ann@example.com --phone +61412345678 --yes
      2> Error: the store has no account "acmee"; it has acme
      2> Nothing was sent. Correct REFCHECK_ACCOUNT or the setting "account", or add the account with: refcheck store accounts add acmee
      exit 2
    `)
    expect((await here.type('store info --json')).json()).toMatchObject({
      batches: (before as { batches: number }).batches,
    })
    expect(
      here
        .listCalls()
        .slice(calls)
        .filter((call) => call.startsWith('POST')),
    ).toEqual([])
    expect(here.listOrderedEmails()).toEqual(['ann@example.com'])
  })

  test('people of one account can be ordered again under an account that was added', async () => {
    const here = await sessionWithAcme(store)
    expect(
      await here.all(
        ['store accounts add Beta', 'store accounts add beta', orderLine('ann'), 'store accounts'],
        underAccount('beta'),
      ),
    ).toMatchInlineSnapshot(`
      $ REFCHECK_ACCOUNT=beta refcheck store accounts add Beta
      The account "beta" was added to this store.
      exit 0

      $ REFCHECK_ACCOUNT=beta refcheck store accounts add beta
      The account "beta" was there before.
      exit 0

      $ REFCHECK_ACCOUNT=beta refcheck request create --package 102 --first-name ann --last-name Example --email ann@example.com --phone +61412345678 --yes
      created  REQUEST_2                             RECEIVED
      2> Follow it with: refcheck request wait REQUEST_2
      exit 0

      $ REFCHECK_ACCOUNT=beta refcheck store accounts
      ACCOUNT  PEOPLE  ATTEMPTS  LAST USED AT
      acme     1       1         2026-11-20 12:00 +00:00
      beta     1       1         2026-11-20 12:00 +00:00
      exit 0
    `)
    expect(here.listOrderedEmails()).toEqual(['ann@example.com', 'ann@example.com'])
    const last_used_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string
    expect((await here.type('store accounts --json')).json()).toEqual([
      { account: 'acme', attempts: 1, last_used_at, people: 1 },
      { account: 'beta', attempts: 1, last_used_at, people: 1 },
    ])
  })

  test('an order is a duplicate under every account if the person was ordered without an account', async () => {
    const here = await session({ store })
    expect((await here.type(orderLine('ann'))).code).toBe(0)
    expect(await here.type(orderLine('ann'), underAccount('acme'))).toMatchInlineSnapshot(`
      $ REFCHECK_ACCOUNT=acme refcheck request create --package 102 --first-name ann --last-name Example --email ann@example.com --phone +61412345678 --yes
      2> Error: the store has no account "acme"; its orders have none
      2> Nothing was sent. Correct REFCHECK_ACCOUNT or the setting "account", or add the account with: refcheck store accounts add acme
      exit 2
    `)
    expect((await here.type('store accounts add acme')).code).toBe(0)
    expect((await here.type(`${orderLine('ann')} --json`, underAccount('acme'))).json()).toMatchObject({
      error: { code: 'duplicate' },
    })
    expect(here.listOrderedEmails()).toEqual(['ann@example.com'])
  })
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a person is ordered once, however the account is spelled or changed in the environment and the settings (%s)',
  async (store) => {
    const here = await sessionWithAcme(store)
    for (const account of ['acme', 'Acme', 'acme ', 'acmee', 'acme.', 'other']) {
      expect([account, (await here.type(orderLine('ann'), underAccount(account))).code]).toEqual([account, 2])
      expect((await here.type(['config', 'set', 'account', account, '--yes'])).code).toBe(0)
      expect([account, (await here.type(orderLine('ann'))).code]).toEqual([account, 2])
    }
    expect(here.listOrderedEmails()).toEqual(['ann@example.com'])
  },
)

test.each([
  ['request create', orderLine('ben')],
  ['request create --dry-run', `${orderLine('ben')} --dry-run`],
  ['batch validate', 'batch validate people.csv --package 102'],
  ['batch plan', 'batch plan people.csv --package 102'],
  ['batch run', 'batch run people.csv --package 102 --yes'],
  ['batch queue', 'batch queue people.csv --package 102 --yes'],
  ['batch resume', 'batch resume BATCH --yes'],
  ['batch retry', 'batch retry BATCH'],
  ['batch release', 'batch release BATCH --all'],
  ['batch reconcile', 'batch reconcile BATCH'],
  ['worker', 'worker --once'],
])('%s refuses an account that the store does not have', async (_name, line) => {
  const here = await sessionWithAcme()
  writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
  const started = await here.type(
    'batch run people.csv --package 102 --yes --max 1 --json',
    underAccount('acme'),
  )
  const { batch_id: id } = started.json() as { batch_id: string }
  const refused = await here.type(line.replace('BATCH', id), underAccount('acmee'))
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('the store has no account "acmee"; it has acme\n'),
  ])
  expect(refused.stderr).toContain('refcheck store accounts add acmee\n')
  expect(here.listOrderedEmails()).toEqual(['ann@example.com', 'a1@example.com'])
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'a batch is resumed, and its rows are reconciled, only under the account of the batch (%s)',
  async (store) => {
    const here = await sessionWithAcme(store)
    await here.type('store accounts add beta')
    writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com', 'a3@example.com'])
    here.sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'after' }, times: 1 })
    const line = 'batch run people.csv --package 102 --yes --max 1 --json'
    const { batch_id: id } = (await here.type(line, underAccount('acme'))).json() as { batch_id: string }
    const before = here.listOrderedEmails()
    for (const refused of [`batch resume ${id} --yes`, `batch reconcile ${id} --row 1 --drop`]) {
      for (const account of ['beta', '']) {
        const { code, stderr } = await here.type(refused, underAccount(account))
        expect([refused, code, stderr]).toEqual([
          refused,
          2,
          expect.stringContaining(' is of the account "acme"'),
        ])
      }
    }
    expect(here.listOrderedEmails()).toEqual(before)
    expect((await here.type(`batch reconcile ${id} --row 1 --drop`, underAccount('acme'))).code).toBe(0)
    await here.type(`batch resume ${id} --yes`, underAccount('acme'))
    expect(here.listOrderedEmails()).toHaveLength(before.length + 2)
  },
)

test('an agent’s plan for an account that the store does not have is refused', async () => {
  const here = await sessionWithAcme()
  const agent = await connectAgent(here, [], underAccount('acmee'))
  const answer = await agent.call('plan_order', { body: JSON.parse(orderBody('Ben')) as unknown })
  expect(answer).toMatchObject({ isError: true })
  expect(answer.text).toContain('refcheck store accounts add acmee')
  await agent.close()
})

test('approve refuses a plan before the confirmation if the store does not have its account', async () => {
  const here = await sessionWithAcme()
  const { userEmail } = here.sandbox.credentials
  const owner = { baseUrl: here.url, userEmail, profile: undefined, account: 'acmee' }
  const plan = await addAgentPlan(here, { kind: 'order', body: orderBody('Ben') }, { owner })
  const refused = await here.type(`approve ${plan}`, { tty: true, answers: [], ...underAccount('acmee') })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('has no account "acmee"')])
  expect(here.listOrderedEmails()).toEqual(['ann@example.com'])
})

describe('a change of the account in the settings', () => {
  test('shows how many people are known under the old account, and asks on a terminal', async () => {
    const here = await sessionWithAcme()
    await here.type('config set account acme')
    const change = 'config set account Beta'
    expect(await here.type(change)).toMatchInlineSnapshot(`
      $ refcheck config set account Beta
      2> 1 person is known under the account "acme"; under "beta" this person can be ordered again.
      2> Error: there is no terminal to confirm on
      2> Nothing was done. Run it again with --yes to skip the confirmation.
      exit 2
    `)
    expect(await here.type(change, { answers: [{ ask: /^Change the account/, confirm: false }] }))
      .toMatchInlineSnapshot(`
        $ refcheck config set account Beta
        2> 1 person is known under the account "acme"; under "beta" this person can be ordered again.
        ? Change the account to "beta"? no
        2> Not confirmed; nothing was done
        exit 130
      `)
    expect((await here.type('config get account')).stdout).toBe('acme\n')
    expect(await here.type(change, { answers: [{ ask: /^Change the account/, confirm: true }] }))
      .toMatchInlineSnapshot(`
      $ refcheck config set account Beta
      2> 1 person is known under the account "acme"; under "beta" this person can be ordered again.
      ? Change the account to "beta"? yes
      account is beta
      exit 0
    `)
    expect((await here.type('config get account')).stdout).toBe('beta\n')
  })

  test('is set without a question with --yes', async () => {
    const here = await sessionWithAcme()
    await here.type('config set account acme')
    expect(await here.type('config set account beta --yes')).toMatchInlineSnapshot(`
      $ refcheck config set account beta --yes
      2> 1 person is known under the account "acme"; under "beta" this person can be ordered again.
      account is beta
      exit 0
    `)
  })

  test('also shows how many people could be ordered again if the account of a profile is removed, so that the account of all profiles applies', async () => {
    const here = await sessionWithAcme()
    const { userEmail, apiKey } = here.sandbox.credentials
    await here.type(`auth login --base-url ${here.url} --email ${userEmail} --profile hr --with-key`, {
      stdin: apiKey,
    })
    await here.type('config set account acme --profile hr')
    await here.type('config set account beta')
    expect(await here.type('config unset account --profile hr')).toMatchInlineSnapshot(`
      $ refcheck config unset account --profile hr
      2> 1 person is known under the account "acme"; under "beta" this person can be ordered again.
      2> Error: there is no terminal to confirm on
      2> Nothing was done. Run it again with --yes to skip the confirmation.
      exit 2
    `)
  })

  test('is set without a question if no person could be ordered again', async () => {
    const here = await session()
    await here.type(orderLine('ann'))
    for (const line of [
      'config set account acme',
      'config set account acme',
      'config set account beta',
      'config unset account',
    ])
      expect((await here.type(line)).code).toBe(0)
  })
})
