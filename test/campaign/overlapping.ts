import { lines, person, batchRun } from './cast.ts'
import { type Backend, Stage, type Tally } from './stage.ts'

/**
 * Runs files of people, many of whom are in several files, by several processes at once on one store. Batches
 * that are left waiting for one another are resumed afterwards.
 */
export async function runOverlappingFiles(
  files: number,
  processes: number,
  rng: () => number,
  store: Backend = 'SQLite',
): Promise<Tally> {
  const stage = await Stage.open(store)
  try {
    const everybody = Array.from({ length: Math.max(12, files * 3) }, (_, at) => person(at))
    const left = Array.from({ length: files }, (_, at) => {
      const rows = everybody.filter(() => rng() < 8 / everybody.length)
      return stage.write(`people-${at}.csv`, lines(rows.length === 0 ? everybody.slice(0, 1) : rows))
    })
    const all = [...left]
    const worker = async (): Promise<void> => {
      for (let file = left.shift(); file !== undefined; file = left.shift()) await stage.run(batchRun(file))
    }
    await Promise.all(Array.from({ length: processes }, worker))
    const waiting = (await stage.submissions()).filter(({ state }) => state === 'pending')
    for (const id of new Set(waiting.map(({ batchId }) => batchId)))
      await stage.run(['batch', 'resume', id, '--yes', '--json'])
    const ordered = new Set(stage.sandbox.requests().map(({ recipient }) => recipient.email))
    const inFiles = new Set((await stage.submissions()).flatMap(({ recipient }) => recipient?.email ?? []))
    const tally = await stage.tally()
    // Each person of a file has an order in the end: a duplicate of a duplicate would leave a person with none.
    const neverOrdered = [...inFiles].filter((email) => !ordered.has(email)).length
    if (neverOrdered > 0) throw new Error(`${neverOrdered} people of ${all.length} files were never ordered`)
    return tally
  } finally {
    await stage.close()
  }
}
