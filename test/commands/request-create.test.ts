import { statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { fullInformation, orderArguments } from '../harness/people.ts'
import type { Answer } from '../harness/scripted-prompter.ts'
import { type Session, session } from '../harness/session.ts'

const create = 'request create --package 102'
const priya = '--first-name Priya --last-name Shah --email priya@example.com --phone +61412345678'

const listPosts = ({ listCalls }: Session): string[] => listCalls().filter((call) => call.startsWith('POST'))

test('request create orders with flags, and prints the result as text or JSON', async () => {
  const { type, sandbox } = await session()
  expect(await type(`${create} ${priya} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes
    created  REQUEST_1                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  expect(sandbox.requests()).toMatchObject([
    {
      package_id: 102,
      recipient: { first_name: 'Priya', phone: '+61412345678' },
      requester: { email: 'olive.owner@example.com' },
    },
  ])
  const mei = '--first-name Mei --last-name Tanaka --email mei@example.com --phone +819012345678'
  expect(await type(`${create} ${mei} --yes --json --quiet`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Mei --last-name Tanaka --email mei@example.com --phone +819012345678 --yes --json --quiet
    {
      "request_id": "REQUEST_2",
      "status": "RECEIVED"
    }
    exit 0
  `)
})

test('the same order in another spelling is refused', async () => {
  const { type, listOrderedEmails } = await session()
  await type(`${create} ${priya} --yes`)
  const again = '--first-name priya --last-name SHAH --email Priya@example.com'
  expect(await type(`${create} ${again} --phone '+61 412 345 678' --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name priya --last-name SHAH --email Priya@example.com --phone '+61 412 345 678' --yes
    2> --phone: "+61 412 345 678" is sent as "+61412345678"
    2> Error: package 102 was already ordered for "priya@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered
    2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_1
    exit 2
  `)
  expect(await type(`${create} ${priya} --yes --json`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes --json
    {
      "error": {
        "code": "duplicate",
        "message": "package 102 was already ordered for \\"priya@example.com\\": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered",
        "hint": "To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_1",
        "request_id": "REQUEST_1",
        "batch_id": "BATCH_1",
        "row": 1,
        "match": "exact"
      }
    }
    2> Error: package 102 was already ordered for "priya@example.com": request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered
    exit 2
  `)
  expect(listOrderedEmails()).toEqual(['priya@example.com'])
})

test('fields of every type can be given, and a date has to be in ISO form', async () => {
  const here = await session()
  const order = (date: string): string[] =>
    orderArguments('Priya', [
      '--yes',
      ...fullInformation.map((each) => each.replace('1990-04-30', date)),
    ]).map((each) => (each === '102' ? '101' : each))
  expect((await here.type(order('30/04/1990'))).stderr).toMatchInlineSnapshot(`
    "Error: --field ncc_acic.date_of_birth: "30/04/1990" is not a date in the form YYYY-MM-DD, such as 1990-04-23
    Nothing was sent. Show the fields with: refcheck schema show 101
    "
  `)
  expect((await here.type(order('1990-02-30'))).stderr).toMatchInlineSnapshot(`
    "Error: --field ncc_acic.date_of_birth: "1990-02-30" is a day that does not exist
    Nothing was sent. Show the fields with: refcheck schema show 101
    "
  `)
  expect(listPosts(here)).toEqual([])
  expect(await here.type(order('1990-04-30'))).toMatchInlineSnapshot(`
    $ refcheck request create --package 101 --first-name Priya --last-name Example --email priya@example.com --phone +61412345678 --yes --field reference.position_title=Nurse --field ncc_acic.date_of_birth=1990-04-30 --field ncc_acic.is_volunteer=no --field 'ncc_acic.previous_names=["Priya Rao"]' --field 'ncc_acic.residential_address={"street":"1 High St","postcode":"3000"}' --field icrc.years_of_history=5 --field icrc.annual_income=85000.5
    created  REQUEST_1                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  expect(here.sandbox.requests()).toMatchObject([{ package_id: 101 }])
})

const body = {
  package_id: 102,
  recipient: { first_name: 'Mei', last_name: 'Tanaka', email: 'mei@example.com', phone: '+819012345678' },
}

test('the body of an order is read from stdin or from a file, and --dry-run sends nothing', async () => {
  const here = await session()
  const stdin = JSON.stringify(body)
  expect(await here.type('request create --file - --dry-run --json', { stdin })).toMatchInlineSnapshot(`
    $ refcheck request create --file - --dry-run --json <<EOF
    {"package_id":102,"recipient":{"first_name":"Mei","last_name":"Tanaka","email":"mei@example.com","phone":"+819012345678"}}
    EOF
    2> Dry run: nothing was sent.
    {
      "package_id": 102,
      "recipient": {
        "first_name": "Mei",
        "last_name": "Tanaka",
        "email": "mei@example.com",
        "phone": "+819012345678"
      }
    }
    exit 0
  `)
  expect(listPosts(here)).toEqual([])
  expect(await here.type('request create --file - --yes', { stdin })).toMatchInlineSnapshot(`
    $ refcheck request create --file - --yes <<EOF
    {"package_id":102,"recipient":{"first_name":"Mei","last_name":"Tanaka","email":"mei@example.com","phone":"+819012345678"}}
    EOF
    created  REQUEST_1                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  const second = {
    ...body,
    recipient: { ...body.recipient, email: 'mei2@example.com', phone: '+819000000002' },
  }
  here.write('body.json', `\uFEFF${JSON.stringify(second)}`)
  expect(await here.type('request create --file body.json --yes')).toMatchInlineSnapshot(`
    $ refcheck request create --file body.json --yes
    created  REQUEST_2                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_2
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['mei@example.com', 'mei2@example.com'])
})

test('on a terminal missing answers are asked for, changed and confirmed, and the same order as one command is printed', async () => {
  const { type, sandbox } = await session()
  const answers: Answer[] = [
    { ask: /Which package/, choose: /Identity check only/ },
    { ask: /Last name/, type: 'Shah' },
    { ask: /Email/, type: 'priya', refused: /no @/ },
    { ask: /Email/, type: 'priya@example.com' },
    { ask: /Phone/, type: '+61 412 345 678' },
    { ask: /Is everything correct/, choose: 'Change an answer' },
    { ask: /Change which/, choose: /^Last name/ },
    { ask: /Last name/, initial: 'Shah', type: 'Rao' },
    { ask: /Is everything correct/, choose: /^Yes/ },
    { ask: /^Order 102/, confirm: true },
  ]
  expect(await type('request create --first-name Priya', { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --first-name Priya
    ? Which package?: Identity check only (102)
    ? Last name (required): Shah
    ? Email (required): priya  (has no @; an e-mail address looks like ann@example.com)
    ? Email (required): priya@example.com
    ? Phone (required): +61 412 345 678
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Shah
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Change an answer
    ? Change which answer?: Last name (Shah)
    ? Last name (required): Rao
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Rao
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Yes, go on
    ? Order 102 Identity check only for Priya Rao (priya@example.com) at 127.0.0.1:PORT as olive.owner@example.com? yes
    created  REQUEST_1                             RECEIVED
    2> The same order as one command:
    2>   refcheck request create --package 102 --first-name Priya --last-name Rao --email priya@example.com --phone +61412345678 --yes
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  expect(sandbox.requests()[0]?.recipient).toMatchObject({ last_name: 'Rao', phone: '+61412345678' })
})

test('going back from the first question returns to the choice of the package, and every answer is saved', async () => {
  const here = await session()
  const answers: Answer[] = [
    { ask: /Which package/, choose: /\(101\)/ },
    { ask: /Last name/, type: 'Shah' },
    { ask: /Email/, back: true },
    { ask: /Last name/, initial: 'Shah', back: true },
    { ask: /Which package/, choose: /Identity check only/ },
    { ask: /Email/, back: true },
    { ask: /Which package/, choose: /Identity check only/ },
    { ask: /Email/, type: 'priya@example.com' },
    { ask: /Phone/, leave: true },
  ]
  expect(await here.type('request create --first-name Priya', { answers })).toMatchInlineSnapshot(`
    $ refcheck request create --first-name Priya
    ? Which package?: Standard employment screen (101)
    ? Last name (required): Shah
    ? Email (required): (back)
    ? Last name (required): (back)
    ? Which package?: Identity check only (102)
    ? Email (required): (back)
    ? Which package?: Identity check only (102)
    ? Email (required): priya@example.com
    ? Phone (required) ^C
    2> Cancelled; nothing was done
    2> Your answers are kept. Continue with: refcheck request create --resume
    exit 130
  `)
  const resumed: Answer[] = [
    { ask: /Phone/, type: '+61412345678' },
    { ask: /Is everything correct/, choose: /^Yes/ },
    { ask: /^Order 102/, confirm: true },
  ]
  await here.type('request create --resume', { answers: resumed })
  expect(here.sandbox.requests()[0]).toMatchObject({ recipient: { last_name: 'Shah' }, package_id: 102 })
})

test('cancelling at a question or at the review sends nothing', async () => {
  const here = await session()
  const ctrlC: Answer[] = [{ ask: /Which package/, leave: true }]
  expect(await here.type('request create', { answers: ctrlC })).toMatchInlineSnapshot(`
    $ refcheck request create
    ? Which package? ^C
    2> Cancelled; nothing was done
    exit 130
  `)
  const review: Answer[] = [{ ask: /Is everything correct/, choose: /^Leave/ }]
  expect(await here.type(`${create} ${priya}`, { answers: review })).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678
    2>
    2> Package 102: Identity check only
    2>
    2> FOR        FIELD       ANSWER
    2> Recipient  First name  Priya
    2> Recipient  Last name   Shah
    2> Recipient  Email       priya@example.com
    2> Recipient  Phone       +61412345678
    2>
    ? Is everything correct?: Leave for now, and keep the answers
    2> Cancelled; nothing was ordered
    2> Continue from these answers with: refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678
    exit 130
  `)
  const decided = `${create} ${priya} --allow-duplicate --default-country AU --wait`
  const { stderr } = await here.type(decided, { answers: review })
  expect(stderr.split('\n').at(-2)).toBe(
    `Continue from these answers with: refcheck ${create} ${priya} --default-country AU --allow-duplicate --wait`,
  )
  expect(listPosts(here)).toEqual([])
})

test('--wait waits for the final status', async () => {
  const { type } = await session()
  expect(await type(`${create} ${priya} --yes --wait`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes --wait
    2> REQUEST_1                             RECEIVED
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             COMPLETED
    created  REQUEST_1                             COMPLETED
    exit 0
  `)
})

test('after a 429 the order waits and is sent once; if the wait exceeds --timeout, nothing is ordered', async () => {
  const { type, sandbox, clock, listOrderedEmails } = await session()
  const fault = { kind: 'status', status: 429, when: 'before', retryAfter: '42' } as const
  sandbox.inject({ on: 'POST /v1/requests', fault })
  expect(await type(`${create} ${priya} --yes --timeout 5s`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes --timeout 5s
    2> Error: rate limit exceeded
    2> Nothing was ordered. Run it again in 42 s, or wait automatically with a longer --timeout.
    exit 6
  `)
  expect(await type(`${create} ${priya} --yes --timeout 5s --json`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes --timeout 5s --json
    {
      "error": {
        "code": "throttled",
        "message": "the quota is used up for the next 42 s",
        "hint": "Nothing was sent. Run it again in 42 s, or wait automatically with a longer --timeout.",
        "retry_after": 42
      }
    }
    2> Error: the quota is used up for the next 42 s
    exit 6
  `)
  expect(listOrderedEmails()).toEqual([])
  expect(await type(`${create} ${priya} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes
    2> The quota is used up; continuing in 42 s.
    created  REQUEST_1                             RECEIVED
    2> Follow it with: refcheck request wait REQUEST_1
    exit 0
  `)
  expect(clock.sleeps).toContain(42_000)
  expect(listOrderedEmails()).toEqual(['priya@example.com'])
})

test('an order whose answer is lost exits with 8, is never sent again, and is refused until it is reconciled', async () => {
  const here = await session()
  here.sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'after' } })
  expect(await here.type(`${create} ${priya} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes
    2> Error: package 102 may or may not have been ordered for "priya@example.com": 127.0.0.1:PORT: the connection was cut
    2> It may have been ordered, so it is not sent again. Settle it with: refcheck batch reconcile BATCH_1
    exit 8
  `)
  expect(await here.type(`${create} ${priya} --yes --json`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes --json
    {
      "error": {
        "code": "duplicate",
        "message": "package 102 was sent for \\"priya@example.com\\" on 2026-11-20 12:00 +00:00 with an unknown outcome",
        "hint": "It may have been ordered, so it is not sent again. --allow-duplicate does not override this. Settle it with: refcheck batch reconcile BATCH_1",
        "batch_id": "BATCH_1",
        "row": 1,
        "match": "exact"
      }
    }
    2> Error: package 102 was sent for "priya@example.com" on 2026-11-20 12:00 +00:00 with an unknown outcome
    exit 2
  `)
  expect(await here.type(`${create} ${priya} --yes --allow-duplicate`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes --allow-duplicate
    2> Error: package 102 was sent for "priya@example.com" on 2026-11-20 12:00 +00:00 with an unknown outcome
    2> It may have been ordered, so it is not sent again. --allow-duplicate does not override this. Settle it with: refcheck batch reconcile BATCH_1
    exit 2
  `)
  expect(listPosts(here)).toHaveLength(1)
  expect(await here.type('request list --status unknown')).toMatchInlineSnapshot(`
    $ refcheck request list --status unknown
    REQUEST ID  STATUS   ORDERED AT  NAME        PACKAGE
    -           unknown  -           Priya Shah  102 Identity check only
    exit 0
  `)
})

test('a store file that is no store fails with exit 1, nothing is sent, and the file is not changed', async () => {
  const here = await session()
  here.write('notes.txt', 'these are not the orders you are looking for')
  const env = { REFCHECK_STORE: 'notes.txt' }
  expect(await here.type(`${create} ${priya} --yes`, { env })).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=notes.txt refcheck request create --package 102 --first-name Priya --last-name Shah --email priya@example.com --phone +61412345678 --yes
    2> Error: cannot use the store "HOME/notes.txt": it is not a refcheck store, or is damaged
    2> Choose another file with REFCHECK_STORE, or restore a backup.
    exit 1
  `)
  expect(statSync(join(here.folder, 'notes.txt')).mode & 0o777).toBe(0o644)
  expect(here.read('notes.txt')).toBe('these are not the orders you are looking for')
  expect(listPosts(here)).toEqual([])
})

test('messages of the service are printed without control characters', async () => {
  const { type, sandbox } = await session()
  const message = 'recipient.email: \u001B[2J\u001B]0;owned\u0007bad\u202E'
  sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'status', status: 400, when: 'before', message } })
  const plain = await type(`${create} ${priya} --yes`)
  expect(plain.code).toBe(2)
  expect(plain.stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u)
})
