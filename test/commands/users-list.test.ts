import { expect, test } from 'vitest'

import { world } from '../harness/world.ts'

test('users list', async () => {
  const { run } = await world()
  const { code, stdout } = await run(['users', 'list', '--columns', 'email,role,teams'])
  expect(code).toBe(0)
  expect(stdout).toMatchInlineSnapshot(`
    "EMAIL                    ROLE     TEAMS
    olive.owner@example.com  owner    Hiring; Compliance
    ada.admin@example.com    admin    Compliance
    sam.support@example.com  support  -
    max.member@example.com   member   Hiring
    "
  `)
})

test.each([
  [['--role', 'OWNER'], ['olive.owner@example.com']],
  [
    ['--team', 'hiring'],
    ['olive.owner@example.com', 'max.member@example.com'],
  ],
  [['--role', 'member', '--team', 'Hiring'], ['max.member@example.com']],
  [['--role', 'nobody'], []],
])('users list %j', async (flags, emails) => {
  const { run } = await world()
  const outcome = await run(['users', 'list', '--json', ...flags])
  expect((outcome.json() as { email: string }[]).map(({ email }) => email)).toEqual(emails)
})

test('an inactive user is told which e-mails may be used', async () => {
  const { run } = await world()
  const { code, stderr } = await run(['users', 'list'], {
    env: { REFCHECK_USER_EMAIL: 'ivy.inactive@example.com' },
  })
  expect(code).toBe(4)
  expect(stderr).toMatchInlineSnapshot(`
    "Error: user is not an active member of the organisation
    The user e-mail must be that of an active user of the key’s organisation; "refcheck users list", run as one, shows them.
    "
  `)
})
