import { batchRunArguments, createArguments, csvLines, people, person } from './people.ts'
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
    what: 'exact: the file again, under another name, in another spelling, and one by one',
    async run(environment) {
      const all = people(5)
      expectExit(await environment.run(batchRunArguments(environment.write('people.csv', csvLines(all)))), 0)
      await environment.run(batchRunArguments('people.csv'))
      await environment.run(batchRunArguments(environment.write('again.csv', csvLines(all))))
      const spelt = all.map((each) => ({
        ...each,
        first: ` ${each.first.toUpperCase()}`,
        email: each.email.toUpperCase(),
        phone: each.phone.replace('+61', '+61 (').replace('400', '400) '),
      }))
      await environment.run(batchRunArguments(environment.write('spelt.csv', csvLines(spelt))))
      for (const each of all.slice(0, 2)) expectExit(await environment.run(createArguments(each)), 2)
    },
  },
  {
    section,
    what: 'exact: rows of a second file for people of a halted batch stay pending and do not count as ordered',
    async run(environment) {
      environment.sandbox.setCredits(2)
      const id = findBatchId(
        await environment.run(batchRunArguments(environment.write('people.csv', csvLines(people(6))))),
      )
      environment.sandbox.setCredits(null)
      expectExit(
        await environment.run(batchRunArguments(environment.write('fixed.csv', csvLines(people(7, 1))))),
        10,
      )
      await environment.run(['batch', 'resume', id, '--yes'])
      await environment.run(batchRunArguments('fixed.csv'))
      expectCount(environment.sandbox.requests().length, 8, 'orders')
    },
  },
  {
    section,
    what: '--allow-duplicate for a corrected file orders only the person who was added to it',
    async run(environment) {
      const run = (file: string) => environment.run(batchRunArguments(file, '--allow-duplicate'))
      expectExit(await run(environment.write('people.csv', csvLines(people(4)))), 0)
      await run(environment.write('fixed.csv', csvLines(people(5))))
      expectCount(environment.sandbox.requests().length, 5, 'orders')
    },
  },
  {
    section,
    what: 'a gateway’s /staging and /prod are two services, and each is ordered from once',
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(2)))
      for (const each of ['person0', 'person1']) environment.expectedOrders.set(each, 2)
      expectExit(
        await environment.run(batchRunArguments(file), {
          env: { REFCHECK_BASE_URL: `${environment.url}/staging` },
        }),
        0,
      )
      expectExit(
        await environment.run(batchRunArguments(file), {
          env: { REFCHECK_BASE_URL: `${environment.url}/prod` },
        }),
        0,
      )
      await environment.run(batchRunArguments(file), {
        env: { REFCHECK_BASE_URL: `${environment.url}/prod` },
      })
      expectCount(environment.sandbox.requests().length, 4, 'orders')
    },
  },
  {
    section,
    what: 'orders of one account do not conflict with those of another; an order without an account conflicts with those of all',
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(1)))
      environment.expectedOrders.set('person0', 2)
      for (const account of ['acme', 'acme'])
        await environment.run(batchRunArguments(file), { env: { REFCHECK_ACCOUNT: account } })
      expectExit(await environment.run(batchRunArguments(file), { env: { REFCHECK_ACCOUNT: 'other' } }), 2)
      expectCount(environment.sandbox.requests().length, 1, 'orders')
      await environment.run(['store', 'accounts', 'add', 'other'])
      await environment.run(batchRunArguments(file), { env: { REFCHECK_ACCOUNT: 'other' } })
      expectExit(await environment.run(createArguments(person(0))), 2)
      expectCount(environment.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section,
    what: 'a package replaced at row 16: resume, the successor’s file and single orders',
    async run(environment) {
      const all = people(40)
      const file = environment.write('people.csv', csvLines(all))
      let successor = 0
      const meanwhile = { at: 16, work: () => (successor = environment.sandbox.replacePackage(102)) }
      const id = findBatchId(await environment.run(batchRunArguments(file), { meanwhile }))
      const before = environment.sandbox.requests().length
      expectExit(await environment.run(['batch', 'resume', id, '--yes', '--json']), 5, 'batch move')
      expectCount(environment.sandbox.requests().length, before, 'orders')
      await environment.run(['batch', 'move', id, '--package', String(successor)])
      const [head = '', ...rows] = csvLines(all)
      const fixed = environment.write('fixed.csv', [
        `${head},consent.consent_method`,
        ...rows.map((row) => `${row},email`),
      ])
      await environment.run(replacePackageId(batchRunArguments(fixed), successor))
      const one = [
        ...replacePackageId(createArguments(all[0]!), successor),
        '--field',
        'consent.consent_method=email',
      ]
      expectExit(await environment.run(one), 2)
    },
  },
  {
    section,
    what: 'similar: corrected phone, Ann and Anne, swapped names, a new e-mail; by file and one by one',
    async run(environment) {
      const all = people(5)
      expectExit(await environment.run(batchRunArguments(environment.write('people.csv', csvLines(all)))), 0)
      const [a, b, c, d] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0], (typeof all)[0]]
      const similar = [
        { ...a, phone: '+61499999999' },
        { ...b, first: `${b.first}e` },
        { ...d, email: 'new@example.com' },
      ]
      for (const each of similar) expectExit(await environment.run(createArguments(each)), 2)
      expectExit(
        await environment.run(
          batchRunArguments(environment.write('corrected.csv', csvLines(similar)), '--allow-similar'),
        ),
        [2, 10],
      )
      // The tally identifies people by last name, so for swapped names only the exit code shows that no
      // second order was made.
      expectExit(await environment.run(createArguments({ ...c, first: c.last, last: c.first })), 2)
    },
  },
  {
    section,
    what: 'one e-mail for 30 people: the first is ordered, 29 are held, one --shared releases them',
    async run(environment) {
      const all = Array.from({ length: 30 }, (_, at) => person(at, { email: 'agency@example.com' }))
      const id = findBatchId(
        await environment.run(batchRunArguments(environment.write('people.csv', csvLines(all)))),
      )
      expectCount(environment.sandbox.requests().length, 1, 'orders')
      expectExit(await environment.run(['batch', 'release', id, '--shared', 'agency@example.com']), 0)
      expectExit(await environment.run(['batch', 'resume', id, '--yes']), 0)
      expectCount(environment.sandbox.requests().length, 30, 'orders')
    },
  },
  {
    section,
    what: 'a colleague with a store of their own, and our results file as input',
    async run(environment) {
      const file = environment.write('people.csv', csvLines(people(4)))
      expectExit(await environment.run(batchRunArguments(file)), 0)
      expectExit(await environment.run(batchRunArguments(file), { home: 'colleague' }), 0)
      expectExit(await environment.run(batchRunArguments('people.results.csv'), { home: 'third' }), 0)
      expectCount(environment.sandbox.requests().length, 4, 'orders')
    },
  },
]
