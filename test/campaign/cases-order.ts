import { linkSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import {
  createRunArguments,
  createRequestArguments,
  createCsvLines,
  createPeople,
  createPerson,
} from './people.ts'
import type { Case } from './cases.ts'
import { findBatchId, expectCount, expectExit } from './checks.ts'

const section = 'One attempt'

/** Outcomes of an attempt, concurrent runners, a change of the API key, the quota. */
export const orderCases: readonly Case[] = [
  {
    section,
    title:
      'an answer without an outcome (5xx, cut, no id, a firewall’s page) makes the row unknown, and a second run does not send it',
    async run(environment) {
      const faultyPeople = ['error-before', 'error-after', 'cut-before', 'cut-after'].map((tag, index) =>
        createPerson(index, { email: `person${index}+${tag}@example.com` }),
      )
      const file = environment.write(
        'people.csv',
        createCsvLines([...faultyPeople.slice(0, 2), ...createPeople(3, 10), ...faultyPeople.slice(2)]),
      )
      for (let run = 0; run < 3; run += 1) await environment.run(createRunArguments(file))
      const htmlPage = { kind: 'status', status: 403, when: 'before', body: 'html' } as const
      environment.sandbox.inject({ on: 'POST *', fault: htmlPage })
      expectExit(await environment.run(createRequestArguments(createPerson(20))), 8)
      expectExit(await environment.run(createRequestArguments(createPerson(20))), 2)
    },
  },
  {
    section,
    title: 'rows that the service refused with 401, 403 or 429 stay pending and are sent by a later run',
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(6)))
      for (const status of [401, 403]) {
        environment.sandbox.inject({
          on: 'POST *',
          after: 1,
          fault: { kind: 'status', status, when: 'before' },
        })
        expectExit(await environment.run(createRunArguments(file)), [3, 4])
      }
      environment.sandbox.inject({
        on: 'POST *',
        fault: { kind: 'status', status: 429, when: 'before', retryAfter: '1' },
      })
      expectExit(await environment.run(createRunArguments(file)), 0)
      expectCount(environment.sandbox.requests().length, 6, 'orders')
    },
  },
  {
    section,
    title: 'a run is killed at the 1st, 3rd and 7th order, and the file is run again',
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(12)))
      // Orders are counted from the start of each run: 1, then 1 + 2, then 1 + 2 + 4.
      for (const killAtOrder of [1, 2, 4]) await environment.run(createRunArguments(file), { killAtOrder })
      expectExit(await environment.run(createRunArguments(file)), [0, 8])
    },
  },
  {
    section: 'Which process may send',
    title: 'four processes run the same file at the same time',
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(20)))
      const results = await Promise.all(
        Array.from({ length: 4 }, () => environment.run(createRunArguments(file))),
      )
      if (!results.some(({ code }) => code === 0)) throw new Error('no runner came through')
      expectCount(environment.sandbox.requests().length, 20, 'orders')
    },
  },
  {
    section: 'Which process may send',
    title: 'a store with a second name (hard link) is refused',
    isSqliteOnly: true,
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(4)))
      expectExit(await environment.run(createRunArguments(file, '--max', '1')), 10)
      linkSync(environment.getStorePath(), join(environment.folder, 'second.sqlite'))
      expectExit(
        await environment.run(createRunArguments(file), {
          env: { REFCHECK_STORE: join(environment.folder, 'second.sqlite') },
        }),
        1,
      )
      rmSync(join(environment.folder, 'second.sqlite'))
      expectCount(environment.sandbox.requests().length, 1, 'orders')
    },
  },
  {
    section: 'Another organisation',
    title: 'another organisation’s key in the middle of a batch is refused before anything is sent',
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(4)))
      const id = findBatchId(expectExit(await environment.run(createRunArguments(file, '--max', '2')), 10))
      const { apiKey, userEmail } = environment.sandbox.otherOrganisationOwner
      const env = { REFCHECK_API_KEY: apiKey, REFCHECK_USER_EMAIL: userEmail }
      expectExit(
        await environment.run(['batch', 'resume', id, '--yes', '--json'], { env }),
        2,
        'another organisation',
      )
      expectCount(environment.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section: 'Quota',
    title: 'two runners share one window; the service never refuses one of them',
    async run(environment) {
      const files = [0, 1].map((index) =>
        environment.write(`people-${index}.csv`, createCsvLines(createPeople(4, index * 10))),
      )
      const env = { REFCHECK_QUOTA: '6/3' }
      await Promise.all(files.map((file) => environment.run(createRunArguments(file), { env })))
      expectCount(environment.sandbox.requests().length, 8, 'orders')
    },
  },
]
