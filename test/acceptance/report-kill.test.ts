import { createHash } from 'node:crypto'
import { existsSync, type FSWatcher, mkdirSync, readdirSync, readFileSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { start } from '../harness/process.ts'
import { sampleOf } from '../harness/share.ts'
import { fullInformation, orderArguments } from '../harness/people.ts'
import { ManualClock } from '../harness/manual-clock.ts'
import { type World, world } from '../harness/world.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('swapped', 'kills with a partial report')

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Requests of four reports each, all finished, and what the service itself gives for every report. */
async function finishedRequests(people: readonly string[]) {
  const clock = new ManualClock()
  const here = await world({ clock, quota: [] })
  for (const person of people) {
    const order = orderArguments(person, ['--yes', '--quiet', ...fullInformation])
    await here.run(
      order.map((each) => (each === '102' ? '101' : each)),
      { clock },
    )
  }
  await clock.advance(3_600_000)
  const ids = here.sandbox.requests().map((each) => each.request_id)
  const truth = new Set<string>()
  for (const { checks } of here.sandbox.requests()) {
    const referees = checks.flatMap((check) => check.references ?? [])
    for (const { report_pdf_url: signed } of [...checks, ...referees]) {
      const url = signed?.replace('http://127.0.0.1', here.url)
      if (url !== undefined) truth.add(sha256(await (await fetch(url)).bytes()))
    }
  }
  return { here, clock, ids, truth }
}

/** Counts what happens in a folder and the hidden one in it, and calls back at the event wanted. */
function atEvent(folder: string, wanted: number, act: () => void): { close(): void } {
  const watchers: FSWatcher[] = []
  let seen = 0
  const watchFolder = (path: string): void => {
    const watcher = watch(path, () => {
      seen += 1
      if (watchers.length === 1 && existsSync(join(folder, '.refcheck')))
        watchFolder(join(folder, '.refcheck'))
      if (seen === wanted) act()
    })
    watcher.on('error', () => undefined)
    watchers.push(watcher)
  }
  watchFolder(folder)
  return { close: () => watchers.forEach((each) => each.close()) }
}

/** Whether the run was killed, and not over before. */
async function killedAt(event: number, argv: readonly string[], { env, folder }: World): Promise<boolean> {
  const reports = join(folder, 'reports')
  const running = start(argv, env)
  const watching = atEvent(reports, event, () => running.child.kill('SIGKILL'))
  const end = await running.ended
  watching.close()
  return end === 'SIGKILL'
}

function contents(reports: string): { files: Map<string, string>; others: string[] } {
  const names = readdirSync(reports)
  const pdfs = names.filter((name) => name.endsWith('.pdf'))
  return {
    files: new Map(pdfs.map((name) => [name, sha256(readFileSync(join(reports, name)))])),
    others: names.filter((name) => !name.endsWith('.pdf')).sort(),
  }
}

/** Events of a folder at which the run is killed: all of them over and over, thirty-four of a hundred. */
const moments = Array.from({ length: 34 }, (_, at) => 1 + ((at * 39) % 102))

test('killed at any moment and run again, a folder ends whole, with nothing left over', async () => {
  const { here, clock, ids, truth } = await finishedRequests(['Ana', 'Ben', 'Cleo'])
  expect(truth.size).toBe(12)
  const reports = join(here.folder, 'reports')
  const argv = ['report', 'download', ...ids.flatMap((id) => ['--request', id]), '--output', reports]
  const figures = { kills: 0, partial: 0, left: 0 }
  for (const event of sampleOf(moments, 14)) {
    rmSync(reports, { recursive: true, force: true })
    mkdirSync(reports)
    figures.kills += (await killedAt(event, argv, here)) ? 1 : 0
    // Whatever has its name is whole, at once.
    for (const hash of contents(reports).files.values()) figures.partial += truth.has(hash) ? 0 : 1

    const again = await here.run([...argv, '--json'], { clock })
    expect(again.code).toBe(0)
    const { files, others } = contents(reports)
    expect(new Set(files.values())).toEqual(truth)
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
