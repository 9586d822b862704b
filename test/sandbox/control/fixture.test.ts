import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import type { User } from '../../../src/contract/user.ts'
import { InvalidInputError, IoError, UsageError } from '../../../src/errors/kinds.ts'
import { parseFixture, readFixture } from '../../../src/sandbox/control/read-inputs.ts'
import { fullOrder, jane, refusal, simpleOrder, createSandboxClient } from '../sandbox-client.ts'

const yaml = `
organisations:
  - name: Acme
    credits: 1
    trial: running
    webhook:
      url: https://hooks.example.com/in
      secret: a secret of our own
    keys:
      - { key: 0123456789abcdef0123456789abcdef, revoked: true }
      - fedcba9876543210fedcba9876543210
    teams:
      - name: North
      - { name: Closed, active: false }
    users:
      - { email: max@example.com, first_name: Max, last_name: Member, teams: [North, Closed],
          permissions: { bgc: requestor, reference: 5, integration: 1 } }
      - { email: olga@example.com, role: owner, job_title: Boss }
      - { email: ina@example.com, active: false }
    packages:
      - id: 7
        name: All kinds
        details:
          reference_survey: { id: 1, min_referees: 2 }
          background_checks:
            - { check_name: Police, partner_name: Verity }
        additional_information:
          - display_name: Police
            code: ncc_acic
            fields:
              text: { type: string, required: true, description: Some text. }
              count: { type: integer }
              share: { type: number }
              agreed: { type: boolean }
              names: { type: array }
              address: { type: object }
      - { id: 8, name: Owners only, roles: [owner] }
      - { id: 9, name: Gone, status: DISABLED }
  - name: Other
    users: [{ email: olga@example.com, role: owner }]
`

test('a fixture in YAML defines the organisations, users and packages of a sandbox', async () => {
  const { sandbox, get, post, authHeaders } = createSandboxClient({ fixture: parseFixture(yaml) })
  expect(sandbox.credentials).toEqual({
    apiKey: 'fedcba9876543210fedcba9876543210',
    userEmail: 'olga@example.com',
    webhookSecret: 'a secret of our own',
  })
  expect(sandbox.overview()).toMatchObject({ credits: 1, webhook_url: 'https://hooks.example.com/in' })
  const { users } = (await get('/v1/users')).envelope().data as { users: User[] }
  expect(users).toMatchObject([
    {
      email: 'max@example.com',
      role: 'member',
      permissions: ['bgc.requestor', 'exit.none', 'pulse.none', 'reference.analyst'],
      teams: [{ name: 'North' }],
      job_title: '',
    },
    { email: 'olga@example.com', role: 'owner', job_title: 'Boss' },
  ])
  const revokedHeaders = { ...authHeaders(), 'X-Service-API-Key': '0123456789abcdef0123456789abcdef' }
  expect((await get('/v1/users', revokedHeaders)).status).toBe(401)
  expect((await get('/v1/packages/8/schema', authHeaders('max@example.com'))).status).toBe(404)
  expect((await get('/v1/packages?status=disabled')).envelope().data).toMatchObject({ packages: [{ id: 9 }] })
  const order = { package_id: 7, recipient: jane }
  expect((await post(order)).envelope()).toEqual(
    refusal('additional_information[0].fields.text: is required by check code ncc_acic'),
  )
  const information = [{ code: 'ncc_acic', fields: { text: 'x', count: 1, share: 0.5, agreed: true } }]
  expect((await post({ ...order, additional_information: information })).status).toBe(201)
  expect((await post({ ...order, additional_information: information })).envelope()).toEqual(
    refusal('organisation has no credits remaining'),
  )
  expect(sandbox.otherOrganisationOwner).toEqual({
    apiKey: expect.stringMatching(/^\w{32}$/),
    userEmail: 'olga@example.com',
  })
})

test('a fixture is also read from a file in JSON', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-fixture-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'fixture.json')
  writeFileSync(path, JSON.stringify({ organisations: [{ name: 'A', users: [{ email: 'a@example.com' }] }] }))
  const { sandbox, get } = createSandboxClient({ fixture: await readFixture(path) })
  expect(sandbox.credentials.userEmail).toBe('a@example.com')
  expect((await get('/v1/packages')).envelope().data).toEqual({ packages: [] })
  await expect(readFixture(join(folder, 'none'))).rejects.toBeInstanceOf(UsageError)
  await expect(readFixture(folder)).rejects.toBeInstanceOf(IoError)
})

const fixtureWithUserAnd = (field: string): string =>
  `organisations: [{name: A, users: [{email: a@example.com}], ${field}}]`

test.each([
  ['invalid YAML', 'a: [', /^the fixture is neither JSON nor YAML at line 1, column \d+$/],
  ['no content', '', /^the fixture's text: /],
  ['no users', 'organisations: [{name: A}]', /^the fixture's organisations\[0\]\.users: /],
  ['an unknown field', fixtureWithUserAnd('colour: red'), /^the fixture's organisations\[0\]: .*colour/],
  [
    'a webhook URL without TLS',
    fixtureWithUserAnd('webhook: {url: "http://hooks.example.com/in"}'),
    /^the fixture's organisations\[0\]\.webhook\.url: the webhook http:\/\/hooks\.example\.com is not https$/,
  ],
  ['a short key', fixtureWithUserAnd('keys: [abc]'), /^the fixture's organisations\[0\]\.keys\[0\]: /],
  [
    'an unknown type',
    fixtureWithUserAnd(
      'packages: [{id: 1, name: P, additional_information: [{display_name: D, code: c, fields: {f: {type: date}}}]}]',
    ),
    /^the fixture's organisations\[0\]\.packages\[0\]\.additional_information\[0\]\.fields\.f\.type: /,
  ],
  [
    'a package id twice',
    fixtureWithUserAnd('packages: [{id: 1, name: P}, {id: 1, name: Q}]'),
    /^the fixture has the package id 1 more than once$/,
  ],
  [
    'an e-mail twice',
    'organisations: [{name: A, users: [{email: a@example.com}, {email: A@example.com}]}]',
    /^the fixture has the e-mail "a@example\.com" more than once$/,
  ],
  [
    'an unknown team',
    'organisations: [{name: A, users: [{email: a@example.com, teams: [North]}]}]',
    /^the fixture has a user in the team "North", but no such team$/,
  ],
])('refuses a fixture with %s', (_label, text, message) => {
  expect(() => parseFixture(text)).toThrow(message)
})

test('the message about a duplicate API key does not contain the key', () => {
  const key = 'k'.repeat(32)
  expect(() => parseFixture(fixtureWithUserAnd(`keys: [${key}, ${key}]`))).toThrow(
    /^the fixture has an API key more than once$/,
  )
})

test('without a fixture, the sandbox has its built-in users and packages', async () => {
  const { post } = createSandboxClient()
  expect((await post(simpleOrder)).status).toBe(201)
  expect((await post(fullOrder)).status).toBe(201)
})

/** YAML anchors, each of which refers ten times to the one before it (the "billion laughs"). */
const nestedAliases = Array.from(
  { length: 9 },
  (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(10)}]`,
)

test.each([
  [
    'aliases that expand to a billion values',
    `a0: &a0 [x]\n${nestedAliases.join('\n')}`,
    'the fixture has too many aliases of aliases',
  ],
  ['200,000 open brackets', `# "\n${'['.repeat(200_000)}`, 'the fixture has more than 100 open brackets'],
  ['an alias without an anchor', 'organisations: *none', 'the fixture has an alias whose anchor is missing'],
  [
    'a duplicate key',
    'organisations: []\norganisations: []',
    'the fixture has "organisations" more than once',
  ],
  [
    'a thousand unknown keys',
    Array.from({ length: 1_000 }, (_, index) => `k${index}: 1`).join('\n'),
    'is missing',
  ],
])('a fixture with %s is refused', (_label, text, message) => {
  expect(() => parseFixture(text)).toThrow(InvalidInputError)
  expect(() => parseFixture(text)).toThrow(message)
})

test('a fixture of 300 MB is refused before it is read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-fixture-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'huge.yaml')
  writeFileSync(path, '')
  truncateSync(path, 300 * 1024 * 1024)
  await expect(readFixture(path)).rejects.toThrow('is larger than 262144 bytes')
})
