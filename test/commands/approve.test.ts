import { readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { orderBody, addAgentPlan, openPlans } from '../harness/agent-plans.ts'
import { session, type Session, type TypingOptions } from '../harness/session.ts'

const planCodePattern = /\b[B-X]{4}-[B-X]{4}\b/gi
const terminal: TypingOptions = { tty: true, exported: { NO_COLOR: '1' } }
const confirmOrder = [{ ask: /^Order /, confirm: true }]
const declineOrder = [{ ask: /^Order /, confirm: false }]

const startSession = (): Promise<Session> => session({ filters: [[planCodePattern, 'CODE']] })

/** Returns the plan of people.csv, as `batch plan --json` prints it. */
async function createFilePlan(here: Session): Promise<{ kind: 'batch'; plan: string; rows: null }> {
  const { stdout } = await here.run(['batch', 'plan', 'people.csv', '--package', '102', '--json'])
  return { kind: 'batch', plan: stdout, rows: null }
}

test('a planned order is shown as request create shows it, and ordered once after a confirmation', async () => {
  const here = await startSession()
  const planCode = await addAgentPlan(here, { kind: 'order', body: orderBody('Priya') })
  expect(await here.type(`approve ${planCode}`, { ...terminal, answers: declineOrder }))
    .toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Plan CODE, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
    2> 2026-11-21 12:00 +00:00.
    2> It is for http://127.0.0.1:PORT as olive.owner@example.com.
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Example
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678
    2>
    2> It uses 1 call of the quota. Left: 60 of 60 in 60 s, 1000 of 1000 in 1 h
    ? Order 102 Identity check only for Priya Example (priya@example.com) at 127.0.0.1:PORT as olive.owner@example.com? no
    2> Cancelled; nothing was ordered
    exit 130
  `)
  expect(here.listOrderedEmails()).toEqual([])
  expect(await here.type(`approve ${planCode.toLowerCase()}`, { ...terminal, answers: confirmOrder }))
    .toMatchInlineSnapshot(`
      $ refcheck approve CODE
      2> Plan CODE, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
      2> 2026-11-21 12:00 +00:00.
      2> It is for http://127.0.0.1:PORT as olive.owner@example.com.
      2>
      2> Package 102: Identity check only
      2>
      2> FOR        FIELD       ANSWER
      2> Recipient  First name  Priya
      2> Recipient  Last name   Example
      2> Recipient  Email       priya@example.com
      2> Recipient  Phone       +61412345678
      2>
      2> It uses 1 call of the quota. Left: 58 of 60 in 60 s, 998 of 1000 in 1 h
      ? Order 102 Identity check only for Priya Example (priya@example.com) at 127.0.0.1:PORT as olive.owner@example.com? yes
      created  REQUEST_1                             RECEIVED
      2> Follow it with: refcheck request wait REQUEST_1
      exit 0
    `)
  expect(await here.type(`approve ${planCode}`, terminal)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Error: plan CODE was already approved on 2026-11-20 12:00 +00:00
    2> Nothing was sent. A plan is used once. Show what came of it with:
    2>   refcheck request get REQUEST_1
    exit 2
  `)
  expect(here.listOrderedEmails()).toEqual(['priya@example.com'])
})

test('without a code, the user chooses among the plans that wait for approval', async () => {
  const here = await startSession()
  expect(await here.type('approve', terminal)).toMatchInlineSnapshot(`
    $ refcheck approve
    2> Error: no plan waits for approval
    2> Plans are made by agents, for 24 hours. How that works: refcheck help agents
    exit 5
  `)
  await addAgentPlan(here, { kind: 'order', body: orderBody('Priya') })
  const answers = [{ ask: 'Which plan?', choose: /package 102/ }, ...confirmOrder]
  expect((await here.type('approve --json', { ...terminal, answers })).json()).toMatchObject({
    status: 'RECEIVED',
  })
  expect(here.listOrderedEmails()).toEqual(['priya@example.com'])
})

test('a planned file is shown as batch run shows it, and ordered only if it has not changed since it was planned', async () => {
  const here = await startSession()
  here.write(
    'people.csv',
    'first_name,last_name,email,phone\nAna,One,a1@example.com,+61400000001\nBo,Two,a2@example.com,+61400000002\n',
  )
  const plan = await addAgentPlan(here, await createFilePlan(here))
  const stalePlan = await addAgentPlan(here, await createFilePlan(here))
  expect(await here.type(`approve ${plan}`, { ...terminal, answers: confirmOrder })).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Plan CODE, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
    2> 2026-11-21 12:00 +00:00.
    2> It is for http://127.0.0.1:PORT as olive.owner@example.com.
    2>
    2> HOME/people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 2 people (Ana One (a1@example.com), Bo Two (a2@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
    ␍2> ␛[2K[--------------------]  0 of 2; 0 s left␍2> ␛[2K[##########----------]  1 of 2; 0 s left␍2> ␛[2K[####################]  2 of 2␍2> ␛[2K (no newline)
    batch  BATCH_1
    HOME/people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com'])
  expect(await here.type(`approve ${plan}`, terminal)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Error: plan CODE was already approved on 2026-11-20 12:00 +00:00
    2> Nothing was sent. A plan is used once. Show what came of it with:
    2>   refcheck batch status BATCH_1
    exit 2
  `)
  here.write('people.csv', 'first_name,last_name,email,phone\nEve,Three,a3@example.com,+61400000003\n')
  expect(await here.type(`approve ${stalePlan}`, terminal)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Plan CODE, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
    2> 2026-11-21 12:00 +00:00.
    2> It is for http://127.0.0.1:PORT as olive.owner@example.com.
    2> Error: HOME/people.csv has changed since it was planned
    2> Nothing was sent. Have it planned again.
    exit 2
  `)
  expect(here.listOrderedEmails()).toHaveLength(2)
})

test('the columns that an agent mapped or ignored are shown before the question', async () => {
  const here = await startSession()
  const people = Array.from(
    { length: 12 },
    (_, at) => `Ann${at},One,work${at}@example.com,+614000000${at + 10},home${at}@example.com\n`,
  )
  here.write('people.csv', `first_name,last_name,email,phone,home_email\n${people.join('')}`)
  const mappingFlags =
    '--map home_email=email --ignore email --map first_name=last_name --map last_name=first_name'
  const { stdout } = await here.type(
    `batch plan people.csv --package 102 --json --header-row 1 ${mappingFlags}`,
  )
  const plan = await addAgentPlan(here, { kind: 'batch', plan: stdout, rows: null })
  expect(await here.type(`approve ${plan}`, { ...terminal, answers: declineOrder })).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Plan CODE, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
    2> 2026-11-21 12:00 +00:00.
    2> It is for http://127.0.0.1:PORT as olive.owner@example.com.
    2> The agent chose to read the file so:
    2>   line 1 names the columns
    2>   email → left out
    2>   home_email → email
    2>   first_name → last_name
    2>   last_name → first_name
    2>
    2> HOME/people.csv: 12 rows
    2>   12 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 12 people at 127.0.0.1:PORT as olive.owner@example.com? no
    2> Not confirmed; nothing was done
    exit 130
  `)
})

/** Stores the plan of an agent that sent people as a JSON array (`rows`), without a file. */
function createPeoplePlan(here: Session, rows: string, packageId = 102): Promise<string> {
  const reading = { sheet: null, map: {}, ignore: [], default_country: null }
  const sha256 = createHash('sha256').update(rows).digest('hex')
  const stored = { refcheck_plan: 1, file: '-', sha256, base_url: here.url, package_id: packageId, reading }
  return addAgentPlan(here, { kind: 'batch', plan: JSON.stringify(stored), rows })
}

/** A position title that is longer than the maximum length of a displayed answer. The fields after it still have to be shown. */
const longTitle = `Nurse ${'of many wards '.repeat(30)}and the last`
const checksWithLongTitle = [
  { code: 'reference', fields: { position_title: longTitle } },
  {
    code: 'ncc_acic',
    fields: {
      date_of_birth: '1990-04-30',
      is_volunteer: false,
      previous_names: ['Priya Rao', 'Priya Iyer'],
      residential_address: { street: '1 High St', postcode: '3000' },
    },
  },
  { code: 'icrc', fields: { years_of_history: 5, annual_income: 85_000.5 } },
]

test('if the answer to one field is too long to be shown whole, all other fields of the person are still shown', async () => {
  const here = await startSession()
  const body = {
    ...(JSON.parse(orderBody('Priya', 101)) as object),
    additional_information: checksWithLongTitle,
  }
  const plan = await createPeoplePlan(here, JSON.stringify([body]), 101)
  const shown = await here.type(`approve ${plan}`, { ...terminal, columns: 80, answers: declineOrder })
  expect(shown.stderr.split('\n\n')[1]).toMatchInlineSnapshot(`
    "PERSON  FIELD                         ANSWER
    1       package_id                    101
    1       first_name                    Priya
    1       last_name                     Example
    1       email                         priya@example.com
    1       phone                         +61412345678
    1       reference.position_title      Nurse of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards of many wards of many wards of many
                                          wards and the last
    1       ncc_acic.date_of_birth        1990-04-30
    1       ncc_acic.is_volunteer         no
    1       ncc_acic.previous_names       Priya Rao; Priya Iyer
    1       ncc_acic.residential_address  street: 1 High St; postcode: 3000
    1       icrc.years_of_history         5
    1       icrc.annual_income            85000.5"
  `)
  expect(Math.max(...shown.stderr.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('an agent can plan people without a file', async () => {
  const here = await startSession()
  const plan = await createPeoplePlan(
    here,
    `[${orderBody('Priya')},${orderBody('Mei').replace('678', '679')}]`,
  )
  expect(await here.type(`approve ${plan}`, { ...terminal, answers: confirmOrder })).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Plan CODE, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
    2> 2026-11-21 12:00 +00:00.
    2> It is for http://127.0.0.1:PORT as olive.owner@example.com.
    2>
    2> PERSON  FIELD       ANSWER
    2> 1       package_id  102
    2> 1       first_name  Priya
    2> 1       last_name   Example
    2> 1       email       priya@example.com
    2> 1       phone       +61412345678
    2> 2       package_id  102
    2> 2       first_name  Mei
    2> 2       last_name   Example
    2> 2       email       mei@example.com
    2> 2       phone       +61412345679
    2>
    2>
    2> plan CODE: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 2 people (Priya Example (priya@example.com), Mei Example (mei@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
    ␍2> ␛[2K[--------------------]  0 of 2; 0 s left␍2> ␛[2K[##########----------]  1 of 2; 0 s left␍2> ␛[2K[####################]  2 of 2␍2> ␛[2K (no newline)
    batch  BATCH_1
    plan CODE, 102 Identity check only

    2  accepted
    2  rows
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['priya@example.com', 'mei@example.com'])
})

test('only a person in a terminal that the agent did not start can approve a plan', async () => {
  const here = await startSession()
  const plan = await addAgentPlan(here, { kind: 'order', body: orderBody('Priya') })
  expect(await here.type(`approve ${plan}`)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Error: a person has to approve in a terminal, and stdin is not one
    2> Nothing was sent. Type in a terminal, without a pipe: refcheck approve CODE
    exit 2
  `)
  for (const stream of ['stdin', 'stdout', 'stderr'] as const) {
    const { code: exit, stderr } = await here.type(`approve ${plan}`, {
      tty: { stdin: true, stdout: true, stderr: true, [stream]: false },
    })
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(`and ${stream} is not one`) })
  }
  expect((await here.type(`approve ${plan} --yes`, terminal)).stderr).toContain('unknown flag --yes')
  const startedByAgent = { ...terminal, env: { REFCHECK_STARTED_BY_AGENT: '1' } }
  expect(await here.type(`approve ${plan}`, startedByAgent)).toMatchInlineSnapshot(`
    $ REFCHECK_STARTED_BY_AGENT=1 refcheck approve CODE
    2> Error: approve was started by the program that runs the agent
    2> A person approves, in a terminal opened outside of that program, with:
    2>   refcheck approve CODE
    exit 2
  `)
  expect(here.listOrderedEmails()).toEqual([])
  expect(await openPlans(here).listWaiting()).toHaveLength(1)
})

test('a plan that has changed, is for another user, or has expired is refused', async () => {
  const here = await startSession()
  const plan = await addAgentPlan(here, { kind: 'order', body: orderBody('Priya') })
  const path = join(here.folder, 'data', 'plans', `${plan}.json`)
  const text = readFileSync(path, 'utf8')
  const env = { REFCHECK_USER_EMAIL: 'mark.member@example.com' }
  expect(await here.type(`approve ${plan}`, { ...terminal, env })).toMatchInlineSnapshot(`
    $ REFCHECK_USER_EMAIL=mark.member@example.com refcheck approve CODE
    2> Error: plan CODE was made for olive.owner@example.com, not
    2> mark.member@example.com
    2> Nothing was sent. Approve it with the same REFCHECK_BASE_URL,
    2> REFCHECK_USER_EMAIL and REFCHECK_ACCOUNT that it was made with.
    exit 2
  `)
  here.write(`data/plans/${plan}.json`, text.replace('Priya', 'Pryia'))
  expect(await here.type(`approve ${plan}`, terminal)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Error: plan CODE has changed since it was made
    2> Nothing was sent. Have it planned again.
    exit 2
  `)
  here.write(`data/plans/${plan}.json`, text)
  await here.clock.sleep(25 * 3_600_000)
  expect(await here.type(`approve ${plan}`, terminal)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Error: plan CODE expired on 2026-11-21 12:00 +00:00
    2> Nothing was sent. Have it planned again: a plan can be approved for 24 hours.
    exit 2
  `)
  expect(await here.type('approve BCDF-BCDF', terminal)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Error: there is no plan CODE
    2> Choose among the plans that wait with: refcheck approve
    exit 5
  `)
  expect((await here.type('approve nonsense', terminal)).code).toBe(2)
  const planApprovedLate = await addAgentPlan(here, { kind: 'order', body: orderBody('Priya') })
  const meanwhile = (): void => void here.clock.sleep(25 * 3_600_000)
  const expired = await here.type(`approve ${planApprovedLate}`, {
    ...terminal,
    answers: [{ ask: /^Order /, confirm: true, meanwhile }],
  })
  expect([expired.code, expired.stderr]).toEqual([2, expect.stringContaining('expired on')])
  expect(here.listOrderedEmails()).toEqual([])
})

test('a person who was ordered meanwhile is not ordered again, and a similar person is asked about', async () => {
  const here = await startSession()
  const plan = await addAgentPlan(here, { kind: 'order', body: orderBody('Priya') })
  const similar = await addAgentPlan(here, {
    kind: 'order',
    body: orderBody('Priya').replace('priya@', 'p.example@'),
  })
  await here.type(
    'request create --package 102 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes',
  )
  expect(await here.type(`approve ${plan}`, terminal)).toMatchInlineSnapshot(`
    $ refcheck approve CODE
    2> Plan CODE, prepared by an agent on 2026-11-20 12:00 +00:00, valid until
    2> 2026-11-21 12:00 +00:00.
    2> It is for http://127.0.0.1:PORT as olive.owner@example.com.
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Example
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678
    2>
    2> It uses 1 call of the quota. Left: 57 of 60 in 60 s, 997 of 1000 in 1 h
    2> Error: package 102 was already ordered for "priya@example.com": request
    2> REQUEST_1, on 2026-11-20 12:00 +00:00, last seen
    2> RECEIVED when it was ordered
    2> To order it once more, add --allow-duplicate. Show the request with:
    2>   refcheck request get REQUEST_1
    exit 2
  `)
  const answers = [{ ask: /^Somebody similar was ordered.* Order 102/s, confirm: false }]
  expect((await here.type(`approve ${similar}`, { ...terminal, answers })).code).toBe(130)
  expect(here.listOrderedEmails()).toEqual(['priya@example.com'])
})

test('two approvals of the same plan at the same time order once', async () => {
  const here = await startSession()
  const plan = await addAgentPlan(here, { kind: 'order', body: orderBody('Priya') })
  const approvals = await Promise.all(
    [1, 2].map(async () => here.type(`approve ${plan}`, { ...terminal, answers: confirmOrder })),
  )
  expect(approvals.map((each) => each.code).sort((a, b) => a - b)).toEqual([0, 2])
  expect(here.listOrderedEmails()).toEqual(['priya@example.com'])
})
