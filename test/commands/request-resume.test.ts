import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { Answer } from '../harness/scripted-prompter.ts'
import { type Session, session } from '../harness/session.ts'

const create = 'request create --package 102'

const nameAnswers: Answer[] = [
  { ask: /First name/, type: 'Zoë' },
  { ask: /Last name/, type: "O'Brien-Smith" },
]
const contactAnswers: Answer[] = [
  { ask: /Email/, type: 'zoe@example.com' },
  { ask: /Phone/, type: '+61412345678' },
]
const leave: Answer = { ask: /Email/, leave: true }
/** Flags for the fields that package 101 requires in addition to the person. */
const requiredFieldFlags = [
  'reference.position_title=Nurse',
  'ncc_acic.is_volunteer=no',
  'ncc_acic.previous_names=[]',
  'icrc.years_of_history=5',
  'icrc.annual_income=1',
  'ncc_acic.date_of_birth=1990-04-30',
  `ncc_acic.residential_address='{"street":"1 High St"}'`,
]
  .map((each) => `--field ${each}`)
  .join(' ')

const confirmAll: Answer = { ask: /Is everything correct/, choose: /^Yes/ }

const draftsFolder = ({ env }: Session): string => join(env['REFCHECK_DATA_DIR'] ?? '', 'drafts')
const listDrafts = (here: Session): string[] => {
  try {
    return readdirSync(draftsFolder(here))
  } catch {
    return []
  }
}

test('after Ctrl-C the answers are saved for this user and account only, and removed once they are ordered', async () => {
  const here = await session()
  expect(await here.type(`${create} --wait`, { answers: [...nameAnswers, leave] })).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --wait
    ? First name (required): Zoë
    ? Last name (required): O'Brien-Smith
    ? Email (required) ^C
    2> Cancelled; nothing was done
    2> Your answers are kept. Continue with: refcheck request create --resume --wait
    exit 130
  `)
  const [name = ''] = listDrafts(here)
  const text = readFileSync(join(draftsFolder(here), name), 'utf8')
  expect([
    statSync(join(draftsFolder(here), name)).mode & 0o777,
    statSync(draftsFolder(here)).mode & 0o777,
  ]).toEqual([0o600, 0o700])
  expect(text).not.toContain(here.env['REFCHECK_API_KEY'])
  const acme = { REFCHECK_ACCOUNT: 'acme' }
  expect(await here.type('request create --resume', { answers: [], env: acme })).toMatchInlineSnapshot(`
    $ REFCHECK_ACCOUNT=acme refcheck request create --resume
    2> Error: no answers are kept for an order as olive.owner@example.com
    2> Begin a new order with: refcheck request create
    exit 5
  `)
  const answers = [...contactAnswers, confirmAll, { ask: /^Order 102/, confirm: true }]
  expect(await here.type('request create --resume --wait', { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --resume --wait
    2> Continuing the order of Zoë O'Brien-Smith, 102 Identity check only, 2 answers, 2026-11-20 12:00 +00:00
    ? Email (required): zoe@example.com
    ? Phone (required): +61412345678
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Zoë
    2> Recipient  Last name   O'Brien-Smith
    2> Recipient  Email       zoe@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Yes, go on
    ? Order 102 Identity check only for Zoë O'Brien-Smith (zoe@example.com) at 127.0.0.1:PORT as olive.owner@example.com? yes
    2> REQUEST_1                             RECEIVED
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             COMPLETED
    created  REQUEST_1                             COMPLETED
    2> The same order as one command:
    2>   refcheck request create --package 102 --first-name Zoë --last-name 'O'\\''Brien-Smith' --email zoe@example.com --phone +61412345678 --yes
    exit 0
  `)
  expect([listDrafts(here), here.listOrderedEmails()]).toEqual([[], ['zoe@example.com']])
})

test('answers are stored after a refusal of the service, and removed if the user deletes them at the review', async () => {
  const here = await session()
  here.sandbox.inject({
    on: 'POST /v1/requests',
    fault: { kind: 'status', status: 403, when: 'before', message: 'no credits left' },
  })
  const answers = [...nameAnswers, ...contactAnswers, confirmAll, { ask: /^Order 102/, confirm: true }]
  expect(await here.type(create, { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --package 102
    ? First name (required): Zoë
    ? Last name (required): O'Brien-Smith
    ? Email (required): zoe@example.com
    ? Phone (required): +61412345678
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Zoë
    2> Recipient  Last name   O'Brien-Smith
    2> Recipient  Email       zoe@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Yes, go on
    ? Order 102 Identity check only for Zoë O'Brien-Smith (zoe@example.com) at 127.0.0.1:PORT as olive.owner@example.com? yes
    2> Error: no credits left
    2> Nothing was ordered. The organisation has to buy credits.
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 4
  `)
  expect(listDrafts(here)).toHaveLength(1)
  const drop: Answer[] = [
    { ask: /Is everything correct/, choose: /delete/ },
    { ask: /^Delete all answers about Zoë/, confirm: true },
  ]
  expect(await here.type('request create --resume', { answers: drop })).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    2> Continuing the order of Zoë O'Brien-Smith, 102 Identity check only, 4 answers, 2026-11-20 12:00 +00:00
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Zoë
    2> Recipient  Last name   O'Brien-Smith
    2> Recipient  Email       zoe@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Cancel, and delete the answers
    ? Delete all answers about Zoë O'Brien-Smith? yes
    2> Cancelled; nothing was ordered, and the answers are deleted
    exit 130
  `)
  expect([listDrafts(here), here.listOrderedEmails()]).toEqual([[], []])
})

test('an order with an unknown outcome leaves no answers to resume', async () => {
  const here = await session()
  here.sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'after' } })
  const answers = [...nameAnswers, ...contactAnswers, confirmAll, { ask: /^Order 102/, confirm: true }]
  const end = await here.type(create, { answers })
  expect([end.code, listDrafts(here)]).toEqual([8, []])
  expect(end.stderr).not.toContain('--resume')
})

test('--resume offers the choice of several drafts, and cannot be combined with flags for fields', async () => {
  const here = await session()
  await here.type(create, { answers: [...nameAnswers, leave] })
  await here.type(create, {
    answers: [
      { ask: /First name/, type: 'Mei' },
      { ask: /Last/, leave: true },
    ],
  })
  const chosen: Answer[] = [
    {
      ask: 'Continue from which answers?',
      choose: /^Mei/,
    },
    { ask: /Last name/, leave: true },
  ]
  expect(await here.type('request create --resume', { answers: chosen })).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    ? Continue from which answers?: Mei, 102 Identity check only, 1 answer, 2026-11-20 12:00 +00:00
    ? Last name (required) ^C
    2> Cancelled; nothing was done
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 130
  `)
  expect(await here.type('request create --resume --email x@example.com --wait')).toMatchInlineSnapshot(`
    $ refcheck request create --resume --email x@example.com --wait
    2> Error: --resume cannot be combined with flags for single fields
    2> Change the answers at the review: refcheck request create --resume --wait
    exit 2
  `)
  expect(await here.type('request create --resume --file x.json')).toMatchInlineSnapshot(`
    $ refcheck request create --resume --file x.json
    2> Error: --file cannot be combined with --resume
    2> Leave out one of them.
    exit 2
  `)
})

test('store purge also removes saved answers, by e-mail, by request and by age', async () => {
  const here = await session()
  const mei = { ask: /Email/, type: 'mei@example.com' } as const
  const cancel: Answer = { ask: /Phone/, leave: true }
  await here.type(create, { answers: [...nameAnswers, mei, cancel] })
  expect(await here.type('store purge --email MEI@example.com --dry-run')).toMatchInlineSnapshot(`
    $ refcheck store purge --email MEI@example.com --dry-run
    Would remove personal data of 0 rows, 0 events and 1 draft.
    exit 0
  `)
  expect(await here.type('store purge --email MEI@example.com --yes --json')).toMatchInlineSnapshot(`
    $ refcheck store purge --email MEI@example.com --yes --json
    {
      "rows": 0,
      "events": 0,
      "kept": 0,
      "drafts": 1,
      "plans": 0,
      "dry_run": false,
      "logs_left": [],
      "files": []
    }
    exit 0
  `)
  expect(listDrafts(here)).toEqual([])

  const id = (
    await here.type(
      `${create} --first-name Mei --last-name Ito --email mei@example.com --phone +81312345678 --yes --json`,
    )
  ).json() as { request_id: string }
  await here.type(create, { answers: [...nameAnswers, mei, cancel] })
  await here.type(`store purge --request-id ${id.request_id} --yes`)
  expect(listDrafts(here)).toEqual([])

  await here.type(create, { answers: [...nameAnswers, mei, cancel] })
  await here.clock.advance(2 * 24 * 60 * 60 * 1000)
  expect((await here.type('store purge --older-than 1d --yes')).stdout).toMatchInlineSnapshot(`
    "Removed personal data of 0 rows, 0 events and 1 draft.
    "
  `)
  expect(listDrafts(here)).toEqual([])
})

test('an earlier order is reported as soon as the person is known, before the other questions', async () => {
  const here = await session()
  await here.type(
    `${create} --first-name Zoë --last-name Lee --email zoe@example.com --phone +61412345678 --yes`,
  )
  const knownPerson: Answer[] = [
    { ask: /First name/, type: 'zoë' },
    { ask: /Last name/, type: 'Lee' },
    ...contactAnswers,
  ]
  expect(
    await here.type(create, {
      answers: [...knownPerson, { ask: /package 102 was already/, choose: 'Leave' }],
    }),
  ).toMatchInlineSnapshot(`
    $ refcheck request create --package 102
    ? First name (required): zoë
    ? Last name (required): Lee
    ? Email (required): zoe@example.com
    ? Phone (required): +61412345678
    ? zoë Lee: package 102 was already ordered for "zoe@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered.: Leave
    2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_1
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 2
  `)
  const similarQuestion = { ask: /^Somebody similar/, confirm: false } as const
  const createFull = 'request create --package 101'
  await here.type(
    `${createFull} --first-name Zoë --last-name Lee --email zoe@example.com --phone +61412345678 ${requiredFieldFlags} --yes`,
  )
  expect(await here.type(createFull, { answers: [...nameAnswers, ...contactAnswers, similarQuestion] }))
    .toMatchInlineSnapshot(`
    $ refcheck request create --package 101
    ? First name (required): Zoë
    ? Last name (required): O'Brien-Smith
    ? Email (required): zoe@example.com
    ? Phone (required): +61412345678
    ? Somebody similar was ordered: package 101 (request REQUEST_2, 2026-11-20 12:00 +00:00) for Zoë Lee (zoe@example.com) has the same e-mail and phone. Go on all the same? no
    2> Cancelled; nothing was ordered
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 130
  `)
  const resume: Answer[] = [
    { ask: /^Continue from which/, choose: /^Zoë O'Brien-Smith/ },
    { ...similarQuestion, confirm: true },
    { ask: /Position title/, leave: true },
  ]
  expect(await here.type('request create --resume', { answers: resume })).toMatchInlineSnapshot(`
    $ refcheck request create --resume
    ? Continue from which answers?: Zoë O'Brien-Smith, 101 Standard employment screen, 4 answers, 2026-11-20 12:00 +00:00
    ? Somebody similar was ordered: package 101 (request REQUEST_2, 2026-11-20 12:00 +00:00) for Zoë Lee (zoe@example.com) has the same e-mail and phone. Go on all the same? yes
    ? Professional reference survey: Position title (required) ^C
    2> Cancelled; nothing was done
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 130
  `)
  expect(here.listOrderedEmails()).toEqual(['zoe@example.com', 'zoe@example.com'])
})

test('a birth date in the future needs a confirmation on a terminal, and causes a warning without one', async () => {
  const here = await session()
  const fields = ['reference.position_title=Nurse', 'ncc_acic.is_volunteer=no', 'ncc_acic.previous_names=[]']
  const otherFields = ['icrc.years_of_history=5', 'icrc.annual_income=1', 'ncc_acic.residential_address={}']
  const person = '--first-name Mei --last-name Ito --email mei@example.com --phone +81312345678'.split(' ')
  const fieldFlags = [...fields, ...otherFields, 'ncc_acic.date_of_birth=2062-03-04'].flatMap((each) => [
    '--field',
    each,
  ])
  const line = ['request', 'create', '--package', '101', ...person, ...fieldFlags]
  expect((await here.type([...line, '--yes', '--dry-run', '--quiet'])).stderr).toMatchInlineSnapshot(`
    "Warning: National police check: Date of birth: 2062-03-04 is in the future
    Warning: National police check: Residential address is empty
    "
  `)
  const answers: Answer[] = [
    { ask: /Date of birth: 2062-03-04 is in the future. Keep it/, confirm: false },
    { ask: /Residential address is empty. Keep it/, confirm: true },
    { ask: /Referee relationships/, type: '' },
    { ask: /Date of birth/, initial: '2062-03-04', type: '2002-03-04' },
    { ask: /Licence number/, leave: true },
  ]
  expect(await here.type(line, { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --package 101 --first-name Mei --last-name Ito --email mei@example.com --phone +81312345678 --field reference.position_title=Nurse --field ncc_acic.is_volunteer=no --field 'ncc_acic.previous_names=[]' --field icrc.years_of_history=5 --field icrc.annual_income=1 --field 'ncc_acic.residential_address={}' --field ncc_acic.date_of_birth=2062-03-04
    ? National police check: Date of birth: 2062-03-04 is in the future. Keep it? no
    ? National police check: Residential address is empty. Keep it? yes
    ? Professional reference survey: Referee relationships, item 1 (optional):
    ? National police check: Date of birth (required): 2002-03-04
    ? National police check: Licence number (optional) ^C
    2> Cancelled; nothing was done
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 130
  `)
})
