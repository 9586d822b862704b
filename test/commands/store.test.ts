import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, onTestFinished, test } from 'vitest'

import { systemRandom } from '../../src/host/random.ts'
import { openStore } from '../../src/store/ledger/open.ts'
import { emails, peopleFile } from '../harness/batch-file.ts'
import { eventBody, post } from '../harness/deliveries.ts'
import { listening } from '../harness/listening.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { orderOf } from '../harness/people.ts'
import { type World, world } from '../harness/world.ts'

const batchRun = (file: string): string[] => ['batch', 'run', file, '--package', '102', '--yes', '--json']

/** Every byte of every file in the store's folder. */
function bytesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

async function filled(): Promise<World> {
  const place = await world()
  await place.run(batchRun(peopleFile(place.folder, ['zelda@example.com', ...emails(2)])))
  return place
}

test('info says where it is, and what it holds', async () => {
  const { run, folder } = await filled()
  const info = (await run(['store', 'info', '--json'])).json()
  expect(info).toMatchObject({
    location: join(folder, 'data', 'ledger.sqlite'),
    batches: 1,
    rows: { accepted: 3, pending: 0 },
    events: 0,
  })
  expect((await run(['store', 'info'])).stdout).toContain('3 accepted')
})

test('check finds a sound store sound, and a body that was changed', async () => {
  const { run, folder } = await filled()
  expect((await run(['store', 'check', '--json'])).json()).toMatchObject({ sound: true, findings: [] })
  const database = new DatabaseSync(join(folder, 'data', 'ledger.sqlite'))
  database.exec(`UPDATE submissions SET body = x'7b7d' WHERE row_number = 2`)
  database.close()
  const outcome = await run(['store', 'check', '--json'])
  expect([outcome.code, outcome.json()]).toMatchObject([
    1,
    { sound: false, findings: [expect.stringContaining('row 2 of batch')], error: { code: 'io' } },
  ])
})

test('a backup is a store of its own, private, and never over a file that is there', async () => {
  const { run, folder } = await filled()
  expect((await run(['store', 'backup', 'copy.sqlite'])).code).toBe(0)
  const copy = join(folder, 'copy.sqlite')
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  const there = (await run(['store', 'info', '--json'], { env: { REFCHECK_STORE: copy } })).json()
  expect(there).toMatchObject({ rows: { accepted: 3 } })
  expect((await run(['store', 'backup', 'copy.sqlite'])).code).toBe(2)
})

test('a rejected row of a purged person cannot be queued again, and nothing is damaged', async () => {
  const { run, folder, sandbox } = await filled()
  sandbox.inject({
    on: 'POST *',
    fault: { kind: 'status', status: 400, when: 'before', message: 'recipient.email: is not accepted today' },
  })
  const file = peopleFile(folder, ['yves@example.com'], 'rejected.csv')
  const { batch_id } = (await run(batchRun(file))).json() as { batch_id: string }
  await run(['store', 'purge', '--email', 'yves@example.com', '--yes'])
  expect((await run(['batch', 'retry', batch_id, '--json'])).json()).toMatchObject({
    counts: { rejected: 1 },
  })
  expect((await run(['batch', 'resume', batch_id, '--yes'])).code).toBe(10)
})

test('a backup that failed leaves nothing under its name, since half a copy would know nobody', async () => {
  const { run, folder } = await filled()
  const place = await openStore({
    chosen: join(folder, 'data', 'ledger.sqlite'),
    paths: { config: folder, data: join(folder, 'data') },
    cwd: folder,
    clock: new ManualClock(),
    random: systemRandom,
  })
  onTestFinished(() => place.close())
  const copying = place.upkeep.backup(join(folder, 'copy.sqlite'))
  writeFileSync(join(folder, 'copy.sqlite'), 'somebody was faster')
  await expect(copying).rejects.toThrow('it exists already')
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.sqlite'])
  expect((await run(['store', 'check'])).code).toBe(0)
})

test('a backup put back does not know whom it ordered since: nobody is ordered until a person has seen to it', async () => {
  const place = await filled()
  const { run, folder, sandbox } = place
  const store = join(folder, 'data', 'ledger.sqlite')
  await run(['store', 'backup', 'copy.sqlite'])
  const file = peopleFile(folder, emails(2, '-since'), 'since.csv')
  expect((await run(batchRun(file))).code).toBe(0)
  copyFileSync(join(folder, 'copy.sqlite'), store)
  for (const argv of [batchRun(file), orderOf('Ana', ['--yes', '--json'])]) {
    const refused = await run(argv)
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { error: { code: 'io', message: expect.stringContaining('1 run is missing') as string } },
    ])
  }
  expect(sandbox.requests()).toHaveLength(5)
  const findings = (await run(['store', 'check', '--json'])).json()
  expect(findings).toMatchObject({ sound: false, findings: [expect.stringContaining('1 run is missing')] })
  expect((await run(['store', 'check', '--accept-older', '--yes'])).code).toBe(0)
  expect((await run(batchRun(peopleFile(folder, emails(1, '-new'), 'new.csv')))).code).toBe(0)
})

test('a store that was removed is missed too, with what it knew', async () => {
  const { run, folder } = await filled()
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(folder, 'data', `ledger.sqlite${suffix}`), { force: true })
  const outcome = await run(batchRun('people.csv'))
  expect([outcome.code, outcome.stdout]).toMatchObject([1, expect.stringContaining('or the file removed?')])
})

test('a purged person is nowhere in the store’s files, and is still not ordered twice', async () => {
  const place = await filled()
  const { run, folder, env, sandbox } = place
  const id = sandbox.requests()[0]?.request_id ?? ''
  const receiver = await listening(place)
  await post(receiver.url, env['REFCHECK_WEBHOOK_SECRET'] ?? '', { body: eventBody(id, 'PARTIAL') })
  await receiver.stop()
  expect(bytesOf(join(folder, 'data'))).toContain('zelda@example.com')
  const dry = await run(['store', 'purge', '--email', 'Zelda@example.com', '--dry-run', '--json'])
  expect(dry.json()).toEqual({ rows: 1, events: 1, kept: 0, dry_run: true })
  expect((await run(['store', 'purge', '--email', 'Zelda@example.com'])).code).toBe(2)
  const outcome = await run(['store', 'purge', '--email', 'Zelda@example.com', '--yes', '--json'])
  expect(outcome.json()).toEqual({ rows: 1, events: 1, kept: 0, dry_run: false })
  expect(bytesOf(join(folder, 'data'))).not.toContain('zelda')
  writeFileSync(join(folder, 'again.csv'), `${readFileSync(join(folder, 'people.csv'), 'utf8')}\n`)
  expect((await run(batchRun('again.csv'))).code).toBe(2)
  expect(sandbox.requests()).toHaveLength(3)
})

test('by age: what has ended goes, what goes on stays', async () => {
  const { run, sandbox, folder } = await filled()
  for (const { request_id } of sandbox.requests().slice(0, 2)) {
    const isOver = (): boolean =>
      sandbox.requests().some((each) => each.request_id === request_id && each.status === 'COMPLETED')
    while (!isOver()) sandbox.hasten(request_id)
  }
  await run(['request', 'list', '--refresh'])
  const later = new ManualClock({ now: Date.now() + 400 * 86_400_000, auto: true })
  const outcome = await run(['store', 'purge', '--older-than', '365d', '--yes', '--json'], { clock: later })
  expect(outcome.json()).toMatchObject({ rows: 2, kept: 0 })
  expect(bytesOf(join(folder, 'data'))).toContain('a2@example.com')
})

test('what is not settled is never removed', async () => {
  const { run, folder } = await world()
  await run(batchRun(peopleFile(folder, ['zelda+cut-before@example.com'])))
  const outcome = await run(['store', 'purge', '--email', 'zelda+cut-before@example.com', '--yes', '--json'])
  expect(outcome.json()).toEqual({ rows: 0, events: 0, kept: 1, dry_run: false })
  expect(bytesOf(join(folder, 'data'))).toContain('zelda')
})

test('a purge names somebody', async () => {
  const { run } = await world()
  expect((await run(['store', 'purge', '--yes'])).code).toBe(2)
})
