import {
  createRunArguments,
  createRequestArguments,
  createCsvLines,
  createPeople,
  createPerson,
} from './people.ts'
import type { Case } from './cases.ts'
import { findBatchId, expectCount, expectExit } from './checks.ts'

const section = 'Conflict detection'
const replacePackageId = (argv: readonly string[], packageId: number): string[] =>
  argv.map((each) => (each === '102' ? String(packageId) : each))

/**
 * A second order for a person: exact match, another service or account, a replaced package, a similar person,
 * external results.
 */
export const conflictCases: readonly Case[] = [
  {
    section,
    title: 'exact: the same file again, under another name, in another spelling, and as single orders',
    async run(environment) {
      const everybody = createPeople(5)
      expectExit(
        await environment.run(createRunArguments(environment.write('people.csv', createCsvLines(everybody)))),
        0,
      )
      await environment.run(createRunArguments('people.csv'))
      await environment.run(createRunArguments(environment.write('again.csv', createCsvLines(everybody))))
      const respelledPeople = everybody.map((each) => ({
        ...each,
        first: ` ${each.first.toUpperCase()}`,
        email: each.email.toUpperCase(),
        phone: each.phone.replace('+61', '+61 (').replace('400', '400) '),
      }))
      await environment.run(
        createRunArguments(environment.write('spelt.csv', createCsvLines(respelledPeople))),
      )
      for (const each of everybody.slice(0, 2))
        expectExit(await environment.run(createRequestArguments(each)), 2)
    },
  },
  {
    section,
    title:
      'exact: rows of a second file for people of a halted batch stay pending and do not count as ordered',
    async run(environment) {
      environment.sandbox.setCredits(2)
      const id = findBatchId(
        await environment.run(
          createRunArguments(environment.write('people.csv', createCsvLines(createPeople(6)))),
        ),
      )
      environment.sandbox.setCredits(null)
      expectExit(
        await environment.run(
          createRunArguments(environment.write('fixed.csv', createCsvLines(createPeople(7, 1)))),
        ),
        10,
      )
      await environment.run(['batch', 'resume', id, '--yes'])
      await environment.run(createRunArguments('fixed.csv'))
      expectCount(environment.sandbox.requests().length, 8, 'orders')
    },
  },
  {
    section,
    title: '--allow-duplicate for a corrected file orders only the person who was added to it',
    async run(environment) {
      const run = (file: string) => environment.run(createRunArguments(file, '--allow-duplicate'))
      expectExit(await run(environment.write('people.csv', createCsvLines(createPeople(4)))), 0)
      await run(environment.write('fixed.csv', createCsvLines(createPeople(5))))
      expectCount(environment.sandbox.requests().length, 5, 'orders')
    },
  },
  {
    section,
    title: 'a gateway’s /staging and /prod are two services, and each is ordered from once',
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(2)))
      for (const each of ['person0', 'person1']) environment.expectedOrders.set(each, 2)
      expectExit(
        await environment.run(createRunArguments(file), {
          env: { REFCHECK_BASE_URL: `${environment.url}/staging` },
        }),
        0,
      )
      expectExit(
        await environment.run(createRunArguments(file), {
          env: { REFCHECK_BASE_URL: `${environment.url}/prod` },
        }),
        0,
      )
      await environment.run(createRunArguments(file), {
        env: { REFCHECK_BASE_URL: `${environment.url}/prod` },
      })
      expectCount(environment.sandbox.requests().length, 4, 'orders')
    },
  },
  {
    section,
    title:
      'orders of one account do not conflict with those of another; an order without an account conflicts with those of all',
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(1)))
      environment.expectedOrders.set('person0', 2)
      for (const account of ['acme', 'acme'])
        await environment.run(createRunArguments(file), { env: { REFCHECK_ACCOUNT: account } })
      expectExit(await environment.run(createRunArguments(file), { env: { REFCHECK_ACCOUNT: 'other' } }), 2)
      expectCount(environment.sandbox.requests().length, 1, 'orders')
      await environment.run(['store', 'accounts', 'add', 'other'])
      await environment.run(createRunArguments(file), { env: { REFCHECK_ACCOUNT: 'other' } })
      expectExit(await environment.run(createRequestArguments(createPerson(0))), 2)
      expectCount(environment.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section,
    title: 'a package replaced at row 16: resume, the successor’s file and single orders',
    async run(environment) {
      const everybody = createPeople(40)
      const file = environment.write('people.csv', createCsvLines(everybody))
      let successor = 0
      const meanwhile = { atOrder: 16, work: () => (successor = environment.sandbox.replacePackage(102)) }
      const id = findBatchId(await environment.run(createRunArguments(file), { meanwhile }))
      const orderCountBefore = environment.sandbox.requests().length
      expectExit(await environment.run(['batch', 'resume', id, '--yes', '--json']), 5, 'batch move')
      expectCount(environment.sandbox.requests().length, orderCountBefore, 'orders')
      await environment.run(['batch', 'move', id, '--package', String(successor)])
      const [header = '', ...rows] = createCsvLines(everybody)
      const fixed = environment.write('fixed.csv', [
        `${header},consent.consent_method`,
        ...rows.map((row) => `${row},email`),
      ])
      await environment.run(replacePackageId(createRunArguments(fixed), successor))
      const requestArguments = [
        ...replacePackageId(createRequestArguments(everybody[0]!), successor),
        '--field',
        'consent.consent_method=email',
      ]
      expectExit(await environment.run(requestArguments), 2)
    },
  },
  {
    section,
    title:
      'similar: corrected phone, Ann and Anne, swapped names, a new e-mail; as a file and as single orders',
    async run(environment) {
      const everybody = createPeople(5)
      expectExit(
        await environment.run(createRunArguments(environment.write('people.csv', createCsvLines(everybody)))),
        0,
      )
      const [a, b, c, d] = everybody as [
        (typeof everybody)[0],
        (typeof everybody)[0],
        (typeof everybody)[0],
        (typeof everybody)[0],
      ]
      const similar = [
        { ...a, phone: '+61499999999' },
        { ...b, first: `${b.first}e` },
        { ...d, email: 'new@example.com' },
      ]
      for (const each of similar) expectExit(await environment.run(createRequestArguments(each)), 2)
      expectExit(
        await environment.run(
          createRunArguments(environment.write('corrected.csv', createCsvLines(similar)), '--allow-similar'),
        ),
        [2, 10],
      )
      // The tally identifies people by last name. So for swapped names, only the exit code shows that there is no
      // second order.
      expectExit(await environment.run(createRequestArguments({ ...c, first: c.last, last: c.first })), 2)
    },
  },
  {
    section,
    title: 'one e-mail for 30 people: the first is ordered, 29 are held, one --shared releases them',
    async run(environment) {
      const everybody = Array.from({ length: 30 }, (_, index) =>
        createPerson(index, { email: 'agency@example.com' }),
      )
      const id = findBatchId(
        await environment.run(createRunArguments(environment.write('people.csv', createCsvLines(everybody)))),
      )
      expectCount(environment.sandbox.requests().length, 1, 'orders')
      expectExit(await environment.run(['batch', 'release', id, '--shared', 'agency@example.com']), 0)
      expectExit(await environment.run(['batch', 'resume', id, '--yes']), 0)
      expectCount(environment.sandbox.requests().length, 30, 'orders')
    },
  },
  {
    section,
    title:
      'a colleague with a separate store runs the same file, and another the results file: no second order',
    async run(environment) {
      const file = environment.write('people.csv', createCsvLines(createPeople(4)))
      expectExit(await environment.run(createRunArguments(file)), 0)
      expectExit(await environment.run(createRunArguments(file), { machine: 'colleague' }), 0)
      expectExit(await environment.run(createRunArguments('people.results.csv'), { machine: 'third' }), 0)
      expectCount(environment.sandbox.requests().length, 4, 'orders')
    },
  },
]
