import { linkSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { batchRun, create, lines, people, person } from './cast.ts'
import type { Case } from './cases.ts'
import { batchOf, counts, ends } from './checks.ts'

const sending = 'One submission'

/** States, one submission, who may run a batch, a change of who orders, the quota. */
export const orderCases: readonly Case[] = [
  {
    section: sending,
    what: 'an answer that tells nothing (5xx, cut, no id, a firewall’s page) is unknown, and run again sends nothing',
    async play(stage) {
      const faults = ['error-before', 'error-after', 'cut-before', 'cut-after'].map((tag, at) =>
        person(at, { email: `person${at}+${tag}@example.com` }),
      )
      const file = stage.write(
        'people.csv',
        lines([...faults.slice(0, 2), ...people(3, 10), ...faults.slice(2)]),
      )
      for (let run = 0; run < 3; run += 1) await stage.run(batchRun(file))
      const page = { kind: 'status', status: 403, when: 'before', body: 'html' } as const
      stage.sandbox.inject({ on: 'POST *', fault: page })
      ends(await stage.run(create(person(20))), 8)
      ends(await stage.run(create(person(20))), 2)
    },
  },
  {
    section: sending,
    what: 'a refusal of the service itself (401, 403, 429) leaves rows pending, which go once it is over',
    async play(stage) {
      const file = stage.write('people.csv', lines(people(6)))
      for (const status of [401, 403]) {
        stage.sandbox.inject({ on: 'POST *', after: 1, fault: { kind: 'status', status, when: 'before' } })
        ends(await stage.run(batchRun(file)), [3, 4])
      }
      stage.sandbox.inject({
        on: 'POST *',
        fault: { kind: 'status', status: 429, when: 'before', retryAfter: '1' },
      })
      ends(await stage.run(batchRun(file)), 0)
      counts(stage.sandbox.requests().length, 6, 'orders')
    },
  },
  {
    section: sending,
    what: 'killed at the 1st, 3rd and 7th order, and run again',
    async play(stage) {
      const file = stage.write('people.csv', lines(people(12)))
      for (const killAt of [1, 2, 4]) await stage.run(batchRun(file), { killAt })
      ends(await stage.run(batchRun(file)), [0, 8])
    },
  },
  {
    section: 'Who may run a batch',
    what: 'four runners of one file at once',
    async play(stage) {
      const file = stage.write('people.csv', lines(people(20)))
      const ended = await Promise.all(Array.from({ length: 4 }, () => stage.run(batchRun(file))))
      if (!ended.some(({ code }) => code === 0)) throw new Error('no runner came through')
      counts(stage.sandbox.requests().length, 20, 'orders')
    },
  },
  {
    section: 'Who may run a batch',
    what: 'a store with a second name (hard link) is refused',
    isSqliteOnly: true,
    async play(stage) {
      const file = stage.write('people.csv', lines(people(4)))
      ends(await stage.run(batchRun(file, '--max', '1')), 10)
      linkSync(stage.storeOf(), join(stage.folder, 'second.sqlite'))
      ends(
        await stage.run(batchRun(file), { env: { REFCHECK_STORE: join(stage.folder, 'second.sqlite') } }),
        1,
      )
      rmSync(join(stage.folder, 'second.sqlite'))
      counts(stage.sandbox.requests().length, 1, 'orders')
    },
  },
  {
    section: 'A change of who orders',
    what: 'another organisation’s key in the middle of a batch is refused before anything is sent',
    async play(stage) {
      const file = stage.write('people.csv', lines(people(4)))
      const id = batchOf(ends(await stage.run(batchRun(file, '--max', '2')), 10))
      const { apiKey, userEmail } = stage.sandbox.otherOrganisation
      const env = { REFCHECK_API_KEY: apiKey, REFCHECK_USER_EMAIL: userEmail }
      ends(await stage.run(['batch', 'resume', id, '--yes', '--json'], { env }), 2, 'another organisation')
      counts(stage.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section: 'The quota',
    what: 'two runners share one window; the service never refuses one of them',
    async play(stage) {
      const files = [0, 1].map((at) => stage.write(`people-${at}.csv`, lines(people(4, at * 10))))
      const env = { REFCHECK_QUOTA: '6/3' }
      await Promise.all(files.map((file) => stage.run(batchRun(file), { env })))
      counts(stage.sandbox.requests().length, 8, 'orders')
    },
  },
]
