import { batchRun, create, lines, people, person } from './cast.ts'
import type { Case } from './cases.ts'
import type { Stage } from './stage.ts'
import { batchOf, counts, ends } from './checks.ts'

const section = 'Settling an unknown'
const lost = person(1, { email: 'person1+cut-after@example.com' })
const cut = person(1, { email: 'person1+cut-before@example.com' })

async function batchWith(stage: Stage, second: typeof lost): Promise<string> {
  const [first, , third] = people(3)
  const file = stage.write('people.csv', lines([first!, second, third!]))
  return batchOf(ends(await stage.run(batchRun(file)), 8))
}

const events = (stage: Stage): string =>
  stage.write(
    'events.ndjson',
    stage.sandbox
      .requests()
      .map(({ request_id, status }) => JSON.stringify({ event: 'request.updated', request_id, status })),
  )

/** What becomes of an unknown order, and of erased people. */
export const settlingCases: readonly Case[] = [
  {
    section,
    what: 'an event proves it; the row is accepted and not sent again',
    async play(stage) {
      const id = await batchWith(stage, lost)
      ends(await stage.run(['batch', 'reconcile', id, '--events', events(stage), '--json']), 0)
      await stage.run(batchRun('people.csv'))
      counts(
        (await stage.submissions()).filter(({ state }) => state === 'accepted').length,
        3,
        'accepted rows',
      )
    },
  },
  {
    section,
    what: 'they have it: --request-id records it',
    async play(stage) {
      const id = await batchWith(stage, lost)
      const made = stage.sandbox.requests().find(({ recipient }) => recipient.email === lost.email)
      ends(await stage.run(['batch', 'reconcile', id, '--row', '2', '--request-id', made!.request_id]), 0)
      ends(await stage.run(create(lost)), 2)
    },
  },
  {
    section,
    what: 'they do not have it: not within 15 minutes, and not without the e-mail',
    async play(stage) {
      const id = await batchWith(stage, cut)
      const again = ['batch', 'reconcile', id, '--row', '2', '--confirm-email']
      ends(await stage.run([...again, cut.email]), 2, '15 minutes')
      ends(await stage.run(create(cut, '--allow-duplicate')), 2)
      counts(stage.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section,
    what: 'leave it: a dropped row goes on blocking the person',
    async play(stage) {
      const id = await batchWith(stage, lost)
      ends(await stage.run(['batch', 'reconcile', id, '--row', '2', '--drop']), [0, 10])
      await stage.run(batchRun('people.csv'))
      ends(await stage.run(create(lost)), 2)
      ends(await stage.run(create(lost, '--allow-duplicate')), 2)
    },
  },
  {
    section: 'Forgetting a person',
    what: 'purged, and their old file run again: no one is ordered',
    async play(stage) {
      const all = people(3)
      ends(await stage.run(batchRun(stage.write('people.csv', lines(all)))), 0)
      for (const { email } of all) ends(await stage.run(['store', 'purge', '--email', email, '--yes']), 0)
      await stage.run(batchRun('people.csv'))
      await stage.run(batchRun(stage.write('again.csv', lines(all))))
      for (const each of all) ends(await stage.run(create(each)), 2)
      counts(stage.sandbox.requests().length, 3, 'orders')
    },
  },
]
