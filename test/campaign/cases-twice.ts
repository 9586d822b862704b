import { batchRun, create, lines, people, person } from './cast.ts'
import type { Case } from './cases.ts'
import { batchOf, counts, ends } from './checks.ts'

const section = 'The same order twice'
const replacePackageId = (argv: readonly string[], packageId: number): string[] =>
  argv.map((each) => (each === '102' ? String(packageId) : each))

/**
 * A second order for a person: exact match, another service or account, a replaced package, a similar person,
 * external results.
 */
export const twiceCases: readonly Case[] = [
  {
    section,
    what: 'exact: the file again, under another name, in another spelling, and one by one',
    async play(stage) {
      const all = people(5)
      ends(await stage.run(batchRun(stage.write('people.csv', lines(all)))), 0)
      await stage.run(batchRun('people.csv'))
      await stage.run(batchRun(stage.write('again.csv', lines(all))))
      const spelt = all.map((each) => ({
        ...each,
        first: ` ${each.first.toUpperCase()}`,
        email: each.email.toUpperCase(),
        phone: each.phone.replace('+61', '+61 (').replace('400', '400) '),
      }))
      await stage.run(batchRun(stage.write('spelt.csv', lines(spelt))))
      for (const each of all.slice(0, 2)) ends(await stage.run(create(each)), 2)
    },
  },
  {
    section,
    what: 'exact: rows of a second file for people of a halted batch stay pending and do not count as ordered',
    async play(stage) {
      stage.sandbox.setCredits(2)
      const id = batchOf(await stage.run(batchRun(stage.write('people.csv', lines(people(6))))))
      stage.sandbox.setCredits(null)
      ends(await stage.run(batchRun(stage.write('fixed.csv', lines(people(7, 1))))), 10)
      await stage.run(['batch', 'resume', id, '--yes'])
      await stage.run(batchRun('fixed.csv'))
      counts(stage.sandbox.requests().length, 8, 'orders')
    },
  },
  {
    section,
    what: '--allow-duplicate for a corrected file orders only the person who was added to it',
    async play(stage) {
      const run = (file: string) => stage.run(batchRun(file, '--allow-duplicate'))
      ends(await run(stage.write('people.csv', lines(people(4)))), 0)
      await run(stage.write('fixed.csv', lines(people(5))))
      counts(stage.sandbox.requests().length, 5, 'orders')
    },
  },
  {
    section,
    what: 'a gateway’s /staging and /prod are two services, and each is ordered from once',
    async play(stage) {
      const file = stage.write('people.csv', lines(people(2)))
      for (const each of ['person0', 'person1']) stage.asked.set(each, 2)
      ends(await stage.run(batchRun(file), { env: { REFCHECK_BASE_URL: `${stage.url}/staging` } }), 0)
      ends(await stage.run(batchRun(file), { env: { REFCHECK_BASE_URL: `${stage.url}/prod` } }), 0)
      await stage.run(batchRun(file), { env: { REFCHECK_BASE_URL: `${stage.url}/prod` } })
      counts(stage.sandbox.requests().length, 4, 'orders')
    },
  },
  {
    section,
    what: 'orders of one account do not conflict with those of another; an order without an account conflicts with those of all',
    async play(stage) {
      const file = stage.write('people.csv', lines(people(1)))
      stage.asked.set('person0', 2)
      for (const account of ['acme', 'acme'])
        await stage.run(batchRun(file), { env: { REFCHECK_ACCOUNT: account } })
      ends(await stage.run(batchRun(file), { env: { REFCHECK_ACCOUNT: 'other' } }), 2)
      counts(stage.sandbox.requests().length, 1, 'orders')
      await stage.run(['store', 'accounts', 'add', 'other'])
      await stage.run(batchRun(file), { env: { REFCHECK_ACCOUNT: 'other' } })
      ends(await stage.run(create(person(0))), 2)
      counts(stage.sandbox.requests().length, 2, 'orders')
    },
  },
  {
    section,
    what: 'a package replaced at row 16: resume, the successor’s file and single orders',
    async play(stage) {
      const all = people(40)
      const file = stage.write('people.csv', lines(all))
      let successor = 0
      const meanwhile = { at: 16, work: () => (successor = stage.sandbox.replacePackage(102)) }
      const id = batchOf(await stage.run(batchRun(file), { meanwhile }))
      const before = stage.sandbox.requests().length
      ends(await stage.run(['batch', 'resume', id, '--yes', '--json']), 5, 'batch move')
      counts(stage.sandbox.requests().length, before, 'orders')
      await stage.run(['batch', 'move', id, '--package', String(successor)])
      const [head = '', ...rows] = lines(all)
      const fixed = stage.write('fixed.csv', [
        `${head},consent.consent_method`,
        ...rows.map((row) => `${row},email`),
      ])
      await stage.run(replacePackageId(batchRun(fixed), successor))
      const one = [...replacePackageId(create(all[0]!), successor), '--field', 'consent.consent_method=email']
      ends(await stage.run(one), 2)
    },
  },
  {
    section,
    what: 'similar: corrected phone, Ann and Anne, swapped names, a new e-mail; by file and one by one',
    async play(stage) {
      const all = people(5)
      ends(await stage.run(batchRun(stage.write('people.csv', lines(all)))), 0)
      const [a, b, c, d] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0], (typeof all)[0]]
      const similar = [
        { ...a, phone: '+61499999999' },
        { ...b, first: `${b.first}e` },
        { ...d, email: 'new@example.com' },
      ]
      for (const each of similar) ends(await stage.run(create(each)), 2)
      ends(
        await stage.run(batchRun(stage.write('corrected.csv', lines(similar)), '--allow-similar')),
        [2, 10],
      )
      // The tally identifies people by last name, so for swapped names only the exit code shows that no
      // second order was made.
      ends(await stage.run(create({ ...c, first: c.last, last: c.first })), 2)
    },
  },
  {
    section,
    what: 'one e-mail for 30 people: the first is ordered, 29 are held, one --shared releases them',
    async play(stage) {
      const all = Array.from({ length: 30 }, (_, at) => person(at, { email: 'agency@example.com' }))
      const id = batchOf(await stage.run(batchRun(stage.write('people.csv', lines(all)))))
      counts(stage.sandbox.requests().length, 1, 'orders')
      ends(await stage.run(['batch', 'release', id, '--shared', 'agency@example.com']), 0)
      ends(await stage.run(['batch', 'resume', id, '--yes']), 0)
      counts(stage.sandbox.requests().length, 30, 'orders')
    },
  },
  {
    section,
    what: 'a colleague with a store of their own, and our results file as input',
    async play(stage) {
      const file = stage.write('people.csv', lines(people(4)))
      ends(await stage.run(batchRun(file)), 0)
      ends(await stage.run(batchRun(file), { home: 'colleague' }), 0)
      ends(await stage.run(batchRun('people.results.csv'), { home: 'third' }), 0)
      counts(stage.sandbox.requests().length, 4, 'orders')
    },
  },
]
