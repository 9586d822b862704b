import { createHash } from 'node:crypto'
import { existsSync, type FSWatcher, mkdirSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { startProgram } from '../harness/process.ts'
import { sampleOf } from '../harness/share.ts'
import { fullInformation, orderArguments } from '../harness/people.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { type World, world } from '../harness/world.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('swapped', { mustNotHappen: 'kills with a partial report' })

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/**
 * Creates one finished request with four reports for each person. Returns the hashes of all reports as the service
 * sends them (`reportHashes`).
 */
async function createFinishedRequests(people: readonly string[]) {
  const clock = new ManualClock()
  const testWorld = await world({ clock, quota: [] })
  for (const person of people) {
    const order = orderArguments(person, ['--yes', '--quiet', ...fullInformation])
    await testWorld.run(
      order.map((each) => (each === '102' ? '101' : each)),
      { clock },
    )
  }
  await clock.advance(3_600_000)
  const ids = testWorld.sandbox.requests().map((each) => each.request_id)
  const reportHashes = new Set<string>()
  for (const { checks } of testWorld.sandbox.requests()) {
    const referees = checks.flatMap((check) => check.references ?? [])
    for (const { report_pdf_url: signed } of [...checks, ...referees]) {
      const url = signed?.replace('http://127.0.0.1', testWorld.url)
      if (url !== undefined) reportHashes.add(sha256(await (await fetch(url)).bytes()))
    }
  }
  return { testWorld, clock, ids, reportHashes }
}

/** Counts the file system events in a folder and in its hidden folder, and calls `act` at event number `eventNumber`. */
function callAtEvent(folder: string, eventNumber: number, act: () => void): { close(): void } {
  const watchers: FSWatcher[] = []
  let eventCount = 0
  const watchFolder = (path: string): void => {
    const watcher = watch(path, () => {
      eventCount += 1
      if (watchers.length === 1 && existsSync(join(folder, '.refcheck')))
        watchFolder(join(folder, '.refcheck'))
      if (eventCount === eventNumber) act()
    })
    watcher.on('error', () => undefined)
    watchers.push(watcher)
  }
  watchFolder(folder)
  return { close: () => watchers.forEach((each) => each.close()) }
}

/** Runs a command and kills it at a file system event of its folder of reports. Returns false if it ended before. */
async function runAndKillAt(
  event: number,
  argv: readonly string[],
  { env, folder }: World,
): Promise<boolean> {
  const reports = join(folder, 'reports')
  const run = startProgram(argv, env)
  const watcher = callAtEvent(reports, event, () => run.child.kill('SIGKILL'))
  const outcome = await run.ended
  watcher.close()
  return outcome === 'SIGKILL'
}

function readContents(reports: string): { files: Map<string, string>; others: string[] } {
  const names = readdirSync(reports)
  const pdfs = names.filter((name) => name.endsWith('.pdf'))
  return {
    files: new Map(pdfs.map((name) => [name, sha256(readFileSync(join(reports, name)))])),
    others: names.filter((name) => !name.endsWith('.pdf')).sort(),
  }
}

/** Numbers of the events at which the run is killed: 34 numbers, spread over the first 102 events. */
const killEvents = Array.from({ length: 34 }, (_, index) => 1 + ((index * 39) % 102))

test('after a download is killed at any file system event and run again, the folder has all reports complete and no temporary files', async () => {
  const { testWorld, clock, ids, reportHashes } = await createFinishedRequests(['Ana', 'Ben', 'Cleo'])
  expect(reportHashes.size).toBe(12)
  const reports = join(testWorld.folder, 'reports')
  const argv = ['report', 'download', ...ids.flatMap((id) => ['--request', id]), '--output', reports]
  const figures = { kills: 0, partial: 0, left: 0 }
  for (const event of sampleOf(killEvents, 14)) {
    rmSync(reports, { recursive: true, force: true })
    mkdirSync(reports)
    figures.kills += (await runAndKillAt(event, argv, testWorld)) ? 1 : 0
    // A file with the name of a report is complete even right after the kill.
    for (const hash of readContents(reports).files.values()) figures.partial += reportHashes.has(hash) ? 0 : 1

    const secondRun = await testWorld.run([...argv, '--json'], { clock })
    expect(secondRun.code).toBe(0)
    const { files, others } = readContents(reports)
    expect(new Set(files.values())).toEqual(reportHashes)
    expect(files.size).toBe(12)
    figures.left += others.length - 2
    expect(others).toEqual(['manifest.csv', 'manifest.json'])
    const manifest = JSON.parse(readFileSync(join(reports, 'manifest.json'), 'utf8')) as {
      file: string
      sha256: string
    }[]
    expect(new Map(manifest.map((each) => [each.file, each.sha256]))).toEqual(files)
  }
  console.info(
    `${figures.kills} kills: ${figures.partial} partial files, ${figures.left} temporary files left`,
  )
  expect(figures.kills).toBeGreaterThan(5)
}, 120_000)
