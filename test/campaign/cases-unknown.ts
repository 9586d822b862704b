import { batchRunArguments, createArguments, csvLines, people, person } from './people.ts'
import type { Case } from './cases.ts'
import type { CampaignEnvironment } from './environment.ts'
import { findBatchId, expectCount, expectExit } from './checks.ts'

const section = 'Unknown outcomes'
const lost = person(1, { email: 'person1+cut-after@example.com' })
const cut = person(1, { email: 'person1+cut-before@example.com' })

async function batchWith(environment: CampaignEnvironment, second: typeof lost): Promise<string> {
  const [first, , third] = people(3)
  const file = environment.write('people.csv', csvLines([first!, second, third!]))
  return findBatchId(expectExit(await environment.run(batchRunArguments(file)), 8))
}

const events = (environment: CampaignEnvironment): string =>
  environment.write(
    'events.ndjson',
    environment.sandbox
      .requests()
      .map(({ request_id, status }) => JSON.stringify({ event: 'request.updated', request_id, status })),
  )

/** Reconciliation of unknown outcomes, and erasure of people. */
export const unknownCases: readonly Case[] = [
  {
    section,
    what: 'an event shows that the order exists: the row becomes accepted and is not sent again',
    async run(environment) {
      const id = await batchWith(environment, lost)
      expectExit(
        await environment.run(['batch', 'reconcile', id, '--events', events(environment), '--json']),
        0,
      )
      await environment.run(batchRunArguments('people.csv'))
      expectCount(
        (await environment.submissions()).filter(({ state }) => state === 'accepted').length,
        3,
        'accepted rows',
      )
    },
  },
  {
    section,
    what: '--request-id records an order that the provider has',
    async run(environment) {
      const id = await batchWith(environment, lost)
      const made = environment.sandbox.requests().find(({ recipient }) => recipient.email === lost.email)
      expectExit(
        await environment.run(['batch', 'reconcile', id, '--row', '2', '--request-id', made!.request_id]),
        0,
      )
      expectExit(await environment.run(createArguments(lost)), 2)
    },
  },
  {
    section,
    what: 'an order that the provider does not have is not repeated within 15 minutes',
    async run(environment) {
      const id = await batchWith(environment, cut)
      const again = ['batch', 'reconcile', id, '--row', '2', '--confirm-email']
      expectExit(await environment.run([...again, cut.email]), 2, '15 minutes')
      expectExit(await environment.run(createArguments(cut, '--allow-duplicate')), 2)
      expectCount(environment.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section,
    what: 'a dropped row still blocks orders for the person',
    async run(environment) {
      const id = await batchWith(environment, lost)
      expectExit(await environment.run(['batch', 'reconcile', id, '--row', '2', '--drop']), [0, 10])
      await environment.run(batchRunArguments('people.csv'))
      expectExit(await environment.run(createArguments(lost)), 2)
      expectExit(await environment.run(createArguments(lost, '--allow-duplicate')), 2)
    },
  },
  {
    section: 'Erasing a person',
    what: 'people are purged and their old file is run again: no order is made',
    async run(environment) {
      const all = people(3)
      expectExit(await environment.run(batchRunArguments(environment.write('people.csv', csvLines(all)))), 0)
      for (const { email } of all)
        expectExit(await environment.run(['store', 'purge', '--email', email, '--yes']), 0)
      await environment.run(batchRunArguments('people.csv'))
      await environment.run(batchRunArguments(environment.write('again.csv', csvLines(all))))
      for (const each of all) expectExit(await environment.run(createArguments(each)), 2)
      expectCount(environment.sandbox.requests().length, 3, 'orders')
    },
  },
]
