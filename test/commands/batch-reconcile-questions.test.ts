import { expect, test } from 'vitest'

import { writePeopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'
import { createUnknownRow } from '../harness/unknown-row.ts'

const minute = 60_000

const providerQuestion = /have a request for Ana/

async function createTwoUnknownRows(here: Session): Promise<string> {
  writePeopleFile(here.folder, ['a1+cut-before@example.com', 'a2+cut-after@example.com'])
  const outcome = await here.type('batch run people.csv --package 102 --yes --json')
  return (outcome.json() as { batch_id: string }).batch_id
}

test('on a terminal there is a question for each unknown row, with the time from which it can be ordered again', async () => {
  const here = await session()
  const id = await createTwoUnknownRows(here)
  const answers = [
    { ask: providerQuestion, choose: 'I do not know yet' },
    { ask: providerQuestion, choose: /order it/ },
    { ask: providerQuestion, choose: 'Nobody knows: never send it' },
  ]
  expect(await here.type(`batch reconcile ${id}`, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1
    2>
    2> Ana Row1 (line 2) of people.csv may have been ordered (1 of 2)
    2> No event names this person. That proves nothing: ask the provider.
    2> Ordering again is possible from 2026-11-20 12:15 +00:00, if no event arrives.
    2>
    ? Does the provider have a request for Ana Row1 (a1+cut-before@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: I do not know yet
    2>
    2> Ana Row2 (line 3) of people.csv may have been ordered (2 of 2)
    2> No event names this person. That proves nothing: ask the provider.
    2> Ordering again is possible from 2026-11-20 12:15 +00:00, if no event arrives.
    2>
    ? Does the provider have a request for Ana Row2 (a2+cut-after@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: They do not have it: order it
    2>
    2> The order of Ana Row2 (line 3) was sent less than 15 minutes ago: its event may still arrive
    2> Nothing was sent. Run this again in 15 min.
    2>
    ? Does the provider have a request for Ana Row2 (a2+cut-after@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: Nobody knows: never send it
    2>
    2> Ana Row2 (line 3) will not be sent again.
    2>
    2> 1 order is still not settled.
    2> Once the provider has answered: refcheck batch reconcile BATCH_1
    exit 8
  `)
  await here.clock.advance(16 * minute)
  const laterAnswers = [
    { ask: providerQuestion, choose: /order it/ },
    { ask: /e-mail of Ana Row1/, type: 'wrong@example.com' },
    { ask: providerQuestion, choose: 'Nobody knows: never send it' },
  ]
  expect(await here.type('batch reconcile', { answers: laterAnswers })).toMatchInlineSnapshot(`
    $ refcheck batch reconcile
    2>
    2> Ana Row1 (line 2) of people.csv may have been ordered (1 of 1)
    2> No event names this person. That proves nothing: ask the provider.
    2>
    ? Does the provider have a request for Ana Row1 (a1+cut-before@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: They do not have it: order it
    2> Warning: Ana Row1 (line 2) may have been ordered already. Sending again may order, and charge for, a second check on the same person.
    ? Type the e-mail of Ana Row1 (line 2) to order again: wrong@example.com
    2>
    2> This is not the e-mail of Ana Row1 (line 2)
    2> Nothing was done. See the e-mail with: refcheck batch rows BATCH_1 --state unknown
    2>
    ? Does the provider have a request for Ana Row1 (a1+cut-before@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: Nobody knows: never send it
    2>
    2> Ana Row1 (line 2) will not be sent again.
    2>
    Nothing is left to settle.
    Ana Row2 (a2+cut-after@example.com) may have been ordered, and was dropped. To decide again: refcheck batch reconcile BATCH_1 --row 2
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['a2+cut-after@example.com'])
})

test('on a terminal the id of the provider’s request is recorded, and the question is repeated after a wrong id', async () => {
  const here = await session()
  const id = await createUnknownRow(here)
  const [, second] = here.sandbox.requests()
  const answers = [
    { ask: providerQuestion, choose: 'They have it' },
    { ask: /Id of their request/, type: '00000000-0000-4000-8000-000000000000' },
    { ask: providerQuestion, choose: 'They have it' },
    { ask: /Id of their request/, type: second?.request_id ?? '' },
  ]
  expect(await here.type(`batch reconcile ${id}`, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1
    2>
    2> Ana Row2 (line 3) of people.csv may have been ordered (1 of 1)
    2> No event names this person. That proves nothing: ask the provider.
    2> Ordering again is possible from 2026-11-20 12:15 +00:00, if no event arrives.
    2>
    ? Does the provider have a request for Ana Row2 (a2+cut-after@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: They have it
    ? Id of their request: ID_1
    2>
    2> Request ID_1 was not found
    2> Check the id. It may belong to another organisation, or be hidden from this user.
    2>
    ? Does the provider have a request for Ana Row2 (a2+cut-after@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: They have it
    ? Id of their request: REQUEST_2
    2>
    2> Ana Row2 (line 3) is ordered: request REQUEST_2
    2>
    Nothing is left to settle.
    exit 0
  `)
})
