import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, onTestFinished, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { batchRun, ordered } from '../harness/batch-session.ts'
import { type World, world } from '../harness/world.ts'

const zelda = 'zelda@example.com'
const purge = ['store', 'purge', '--email', zelda, '--yes', '--json']

/** Every byte of every file of a folder. */
function bytesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

async function filled(name = 'people.csv'): Promise<World> {
  const place = await world()
  await place.run(batchRun(peopleFile(place.folder, [zelda, ...emails(2)], name)))
  return place
}

const dataOf = ({ folder }: World): string => join(folder, 'data')

test('while another process reads, older pages stay: exit 10, and the same command finishes it', async () => {
  const place = await filled()
  const reader = new DatabaseSync(join(dataOf(place), 'ledger.sqlite'))
  onTestFinished(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM submissions').get()
  const unfinished = await place.run(purge)
  expect([unfinished.code, unfinished.json()]).toMatchObject([
    10,
    {
      rows: 1,
      error: { code: 'incomplete', hint: expect.stringContaining('Run the same command again') as string },
    },
  ])
  reader.exec('COMMIT')
  const finished = await place.run(purge)
  expect([finished.code, finished.json()]).toEqual([0, { rows: 0, events: 0, kept: 0, dry_run: false }])
  expect(bytesOf(dataOf(place))).not.toContain('zelda')
}, 30_000)

test('the name of a file that names the person goes, though others of the file stay', async () => {
  const place = await filled('Zelda and others.csv')
  expect((await place.run(purge)).code).toBe(0)
  const batches = (await place.run(['batch', 'list'])).stdout
  expect(batches).toContain('a file')
  expect(bytesOf(dataOf(place)).toLowerCase()).not.toContain('zelda')
})

test('a sync brings no report of a purged person', async () => {
  const place = await filled()
  const { sandbox } = place
  for (const { request_id } of sandbox.requests()) {
    const isOver = () =>
      sandbox.requests().find((each) => each.request_id === request_id)?.status === 'COMPLETED'
    while (!isOver()) sandbox.advanceRequest(request_id)
  }
  expect((await place.run(purge)).code).toBe(0)
  const argv = ['report', 'sync', '--output', 'reports', '--name-template', '{last_name}-{check_id}.pdf']
  expect((await place.run(argv)).code).toBe(0)
  const names = readdirSync(join(place.folder, 'reports')).filter((name) => name.endsWith('.pdf'))
  expect(
    [...new Set(names.map((name) => name.split('-')[0] ?? ''))].toSorted((a, b) => a.localeCompare(b)),
  ).toEqual(['Row2', 'Row3'])
})

test('rows of a purged person that wait are cancelled', async () => {
  const place = await world()
  await place.run(batchRun(peopleFile(place.folder, [...emails(1), zelda]), ['--max', '1']))
  expect((await place.run(purge)).json()).toMatchObject({ rows: 1, kept: 0 })
  const { code, stdout } = await place.run(batchRun('people.csv'))
  expect([code, JSON.parse(stdout)]).toMatchObject([
    10,
    { counts: { accepted: 1, cancelled: 1, pending: 0 } },
  ])
  expect(ordered(place)).toEqual(['a1@example.com'])
})

test('completely: no fingerprint is left, in the store or in the list of its attempts', async () => {
  const place = await filled()
  const database = new DatabaseSync(join(dataOf(place), 'ledger.sqlite'))
  const { fingerprint } = database
    .prepare('SELECT person_print AS fingerprint FROM submissions WHERE email = ?')
    .get(zelda) as { fingerprint: string }
  database.close()
  expect(bytesOf(join(place.folder, 'config', 'attempts'))).toContain(fingerprint)
  expect((await place.run([...purge, '--completely'])).code).toBe(0)
  expect(bytesOf(join(place.folder, 'config', 'attempts'))).not.toContain(fingerprint)
  expect(bytesOf(dataOf(place))).not.toContain(fingerprint)
  // What that gives up: an old file orders the person again. The store is still as it was left.
  expect((await place.run(['store', 'check'])).code).toBe(0)
  const again = await place.run(batchRun(peopleFile(place.folder, [zelda], 'again.csv')))
  expect(again.code).toBe(0)
})
