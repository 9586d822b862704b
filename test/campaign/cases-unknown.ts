import {
  createRunArguments,
  createRequestArguments,
  createCsvLines,
  createPeople,
  createPerson,
} from './people.ts'
import type { Case } from './cases.ts'
import type { CampaignEnvironment } from './environment.ts'
import { findBatchId, expectCount, expectExit } from './checks.ts'

const section = 'Unknown outcomes'
const personWithLostAnswer = createPerson(1, { email: 'person1+cut-after@example.com' })
const personNotOrdered = createPerson(1, { email: 'person1+cut-before@example.com' })

async function runBatchWith(
  environment: CampaignEnvironment,
  secondPerson: typeof personWithLostAnswer,
): Promise<string> {
  const [first, , third] = createPeople(3)
  const file = environment.write('people.csv', createCsvLines([first!, secondPerson, third!]))
  return findBatchId(expectExit(await environment.run(createRunArguments(file)), 8))
}

const writeEventsFile = (environment: CampaignEnvironment): string =>
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
    title: 'an event shows that the order exists: the row becomes accepted and is not sent again',
    async run(environment) {
      const id = await runBatchWith(environment, personWithLostAnswer)
      expectExit(
        await environment.run(['batch', 'reconcile', id, '--events', writeEventsFile(environment), '--json']),
        0,
      )
      await environment.run(createRunArguments('people.csv'))
      expectCount(
        (await environment.readSubmissions()).filter(({ state }) => state === 'accepted').length,
        3,
        'accepted rows',
      )
    },
  },
  {
    section,
    title: '--request-id records an order that the provider has',
    async run(environment) {
      const id = await runBatchWith(environment, personWithLostAnswer)
      const request = environment.sandbox
        .requests()
        .find(({ recipient }) => recipient.email === personWithLostAnswer.email)
      expectExit(
        await environment.run(['batch', 'reconcile', id, '--row', '2', '--request-id', request!.request_id]),
        0,
      )
      expectExit(await environment.run(createRequestArguments(personWithLostAnswer)), 2)
    },
  },
  {
    section,
    title: 'an order that the provider does not have is not repeated within 15 minutes',
    async run(environment) {
      const id = await runBatchWith(environment, personNotOrdered)
      const orderAgainArguments = ['batch', 'reconcile', id, '--row', '2', '--confirm-email']
      expectExit(await environment.run([...orderAgainArguments, personNotOrdered.email]), 2, '15 minutes')
      expectExit(await environment.run(createRequestArguments(personNotOrdered, '--allow-duplicate')), 2)
      expectCount(environment.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section,
    title: 'a dropped row still blocks orders for the person',
    async run(environment) {
      const id = await runBatchWith(environment, personWithLostAnswer)
      expectExit(await environment.run(['batch', 'reconcile', id, '--row', '2', '--drop']), [0, 10])
      await environment.run(createRunArguments('people.csv'))
      expectExit(await environment.run(createRequestArguments(personWithLostAnswer)), 2)
      expectExit(await environment.run(createRequestArguments(personWithLostAnswer, '--allow-duplicate')), 2)
    },
  },
  {
    section: 'Erasing a person',
    title: 'people are purged and their old file is run again: no order is made',
    async run(environment) {
      const everybody = createPeople(3)
      expectExit(
        await environment.run(createRunArguments(environment.write('people.csv', createCsvLines(everybody)))),
        0,
      )
      for (const { email } of everybody)
        expectExit(await environment.run(['store', 'purge', '--email', email, '--yes']), 0)
      await environment.run(createRunArguments('people.csv'))
      await environment.run(createRunArguments(environment.write('again.csv', createCsvLines(everybody))))
      for (const each of everybody) expectExit(await environment.run(createRequestArguments(each)), 2)
      expectCount(environment.sandbox.requests().length, 3, 'orders')
    },
  },
]
