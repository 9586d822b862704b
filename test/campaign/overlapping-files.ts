import { createCsvLines, createPerson, createRunArguments } from './people.ts'
import { type Backend, CampaignEnvironment, type Tally } from './environment.ts'

/**
 * Runs files of people, many of whom are in several files, by several processes at once on one store. Batches
 * with rows that waited for the outcome of another batch are resumed afterwards.
 */
export async function runOverlappingFiles(
  fileCount: number,
  processCount: number,
  rng: () => number,
  store: Backend = 'SQLite',
): Promise<Tally> {
  const environment = await CampaignEnvironment.open(store)
  try {
    const everybody = Array.from({ length: Math.max(12, fileCount * 3) }, (_, index) => createPerson(index))
    const remainingFiles = Array.from({ length: fileCount }, (_, index) => {
      const rows = everybody.filter(() => rng() < 8 / everybody.length)
      return environment.write(
        `people-${index}.csv`,
        createCsvLines(rows.length === 0 ? everybody.slice(0, 1) : rows),
      )
    })
    const allFiles = [...remainingFiles]
    const worker = async (): Promise<void> => {
      for (let file = remainingFiles.shift(); file !== undefined; file = remainingFiles.shift())
        await environment.run(createRunArguments(file))
    }
    await Promise.all(Array.from({ length: processCount }, worker))
    const waitingRows = (await environment.readSubmissions()).filter(({ state }) => state === 'pending')
    for (const id of new Set(waitingRows.map(({ batchId }) => batchId)))
      await environment.run(['batch', 'resume', id, '--yes', '--json'])
    const orderedEmails = new Set(environment.sandbox.requests().map(({ recipient }) => recipient.email))
    const emailsInFiles = new Set(
      (await environment.readSubmissions()).flatMap(({ recipient }) => recipient?.email ?? []),
    )
    const tally = await environment.createTally()
    // Each person of a file must have an order at the end. Without one order, all rows of the person would be
    // duplicates of each other.
    const neverOrdered = [...emailsInFiles].filter((email) => !orderedEmails.has(email)).length
    if (neverOrdered > 0)
      throw new Error(`${neverOrdered} people of ${allFiles.length} files were never ordered`)
    return tally
  } finally {
    await environment.close()
  }
}
