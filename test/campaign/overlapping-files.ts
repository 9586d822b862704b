import { csvLines, person, batchRunArguments } from './people.ts'
import { type Backend, CampaignEnvironment, type Tally } from './environment.ts'

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
  const environment = await CampaignEnvironment.open(store)
  try {
    const everybody = Array.from({ length: Math.max(12, files * 3) }, (_, at) => person(at))
    const remainingFiles = Array.from({ length: files }, (_, at) => {
      const rows = everybody.filter(() => rng() < 8 / everybody.length)
      return environment.write(`people-${at}.csv`, csvLines(rows.length === 0 ? everybody.slice(0, 1) : rows))
    })
    const allFiles = [...remainingFiles]
    const worker = async (): Promise<void> => {
      for (let file = remainingFiles.shift(); file !== undefined; file = remainingFiles.shift())
        await environment.run(batchRunArguments(file))
    }
    await Promise.all(Array.from({ length: processes }, worker))
    const waiting = (await environment.submissions()).filter(({ state }) => state === 'pending')
    for (const id of new Set(waiting.map(({ batchId }) => batchId)))
      await environment.run(['batch', 'resume', id, '--yes', '--json'])
    const ordered = new Set(environment.sandbox.requests().map(({ recipient }) => recipient.email))
    const inFiles = new Set(
      (await environment.submissions()).flatMap(({ recipient }) => recipient?.email ?? []),
    )
    const tally = await environment.tally()
    // Each person of a file has an order in the end: a duplicate of a duplicate would leave a person with none.
    const neverOrdered = [...inFiles].filter((email) => !ordered.has(email)).length
    if (neverOrdered > 0)
      throw new Error(`${neverOrdered} people of ${allFiles.length} files were never ordered`)
    return tally
  } finally {
    await environment.close()
  }
}
