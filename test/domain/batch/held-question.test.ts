import { expect, test } from 'vitest'

import { heldQuestion } from '../../../src/domain/batch/held-question.ts'
import { conflictReasons } from '../../../src/domain/submission/conflicts.ts'
import { batchRow } from './rows.ts'

const match = {
  batchId: 'b-1',
  row: 1,
  requestId: 'r-1',
  state: 'accepted' as const,
  packageId: 101,
  orderedAt: Date.parse('2026-11-20T12:00:00Z'),
  externalResult: { file: 'people.results.csv', line: 4 },
}
const recipient = { first_name: 'Anna', last_name: 'Mueller', email: 'a@example.com', phone: '+4915' }
const askQuestion = (heldFor: (typeof conflictReasons)[number]) =>
  heldQuestion(
    {
      held: {
        ...batchRow(),
        recipient,
        packageId: 107,
        heldFor,
        matches: match,
        shares: [],
        baseUrl: 'https://new.example',
      },
      other: { ...batchRow(), baseUrl: 'https://old.example' },
    },
    'order',
    new Map([[107, 'Driver check']]),
  )

test('each reason has its question, and the first choice decides nothing', () => {
  const questions = conflictReasons.map((reason) => [reason, askQuestion(reason)] as const)
  const firstChoices = questions.flatMap(([, question]) => question?.choices[0] ?? [])
  expect(new Set(firstChoices.map(({ value }) => value))).toEqual(new Set(['later']))
  expect(
    questions
      .map(([reason, question]) =>
        [reason, question?.message, ...(question?.choices.slice(1).map(({ label }) => label) ?? [])].join(
          '\n  ',
        ),
      )
      .join('\n'),
  ).toMatchInlineSnapshot(`
    "store_forgot
      This store had lost attempts, so Anna Mueller may have been ordered. Does the provider have a request?
      The provider has none: order Anna Mueller (a@example.com)
      The provider has one: record it
    same
      
    similar_unknown
      
    unmatched_request
      Request r-1, which was not ordered with this store, is for Anna Mueller. Order as well?
      Yes: order Anna Mueller (a@example.com) as well
      No: that request is this order, record it
      No: leave out
    results_open
      people.results.csv, line 4, says that Anna Mueller may have been ordered. Order?
      Not ordered: order Anna Mueller (a@example.com)
      Ordered: leave out
    results_unclear
      people.results.csv, line 4, says that Anna Mueller may have been ordered. Order?
      Not ordered: order Anna Mueller (a@example.com)
      Ordered: leave out
    other_service
      Anna Mueller was ordered on 2026-11-20 12:00 +00:00 at https://old.example. Is that the same service as https://new.example?
      The same service: leave out
      Another service: order Anna Mueller (a@example.com)
    recent
      Anna Mueller was ordered on 2026-11-20 12:00 +00:00, less than 7 days ago. Order again?
      Yes: order Anna Mueller (a@example.com) again
      No: leave out
    ended_in_error
      The order of Anna Mueller, sent on 2026-11-20 12:00 +00:00, failed with ERROR. Order again?
      Yes: order Anna Mueller (a@example.com) again
      No: leave out
    replaced_package
      Anna Mueller was ordered on 2026-11-20 12:00 +00:00 under package 101, which 107 Driver check seems to replace. Order 107 Driver check as well?
      Yes: order 107 Driver check for Anna Mueller (a@example.com)
      No: leave out
    similar
      Is this one person?
      Two people: order Anna Mueller (a@example.com)
      The same person: leave out"
  `)
})

test('an e-mail address inside a name cannot replace the recipient’s own in the choice that orders', () => {
  const question = heldQuestion(
    {
      held: {
        ...batchRow(),
        recipient: { ...recipient, first_name: `Ann Lee (ann@example.com) and Bob Ray ${'x'.repeat(500)}` },
        heldFor: 'similar',
        matches: match,
        shares: ['phone'],
      },
      other: undefined,
    },
    'order',
    new Map(),
  )
  const label = question?.choices.find(({ value }) => value === 'order')?.label ?? ''
  expect(label).toMatch(/^Two people: order Ann Lee .*… Mueller \(a@example\.com\)$/)
  expect(label.length).toBeLessThan(160)
})
