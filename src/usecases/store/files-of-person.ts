import { createReadStream } from 'node:fs'
import { basename, join } from 'node:path'

import { reportKey } from '../../domain/report/record.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import { containsPersonName } from '../../domain/store/erasure.ts'
import type { ErasureTarget, FilesToErase, PersonTraces } from '../../domain/store/types.ts'
import type { WrittenFile, WrittenKind } from '../../store/written-files.ts'
import type { Services } from '../services.ts'
import { isFile, isReplaceable } from './erase-files.ts'

/** A file of this machine that contains data of the person. */
export interface FoundFile {
  path: string
  kind: Exclude<WrittenKind, 'reports'> | 'input' | 'report' | 'manifest'
  /**
   * Whether a purge does not delete the file: it is the user's own, a backup, or another account may have replaced
   * it.
   */
  isNeverDeleted: boolean
}

/** The files of a person outside the store. */
export interface FoundFiles {
  files: FoundFile[]
  reports: FilesToErase['reports']
  /**
   * Those of the files whose paths have to be stored for the next purge, since the store may have no other record of
   * them.
   */
  filesToRemember: WrittenFile[]
  /** Paths that are no longer stored because they contain the person's name. */
  pathsToForget: string[]
}

/** All kinds, in the order in which they are listed. */
const kinds: readonly FoundFile['kind'][] = [
  'input',
  'results',
  'export',
  'plan',
  'report',
  'manifest',
  'backup',
]

/** Kinds of files that a purge never deletes. */
const userKinds: ReadonlySet<FoundFile['kind']> = new Set(['input', 'backup'])
/** Kinds of files that are removed through their report folder, which checks its own safety. */
const reportKinds: ReadonlySet<FoundFile['kind']> = new Set(['report', 'manifest'])

/**
 * Number of bytes that the text search reads at once, and number of characters at the end of each block that
 * are searched again together with the next block.
 */
const blockBytes = 1024 * 1024
const overlapChars = 512

/**
 * Finds files of this machine that contain data of the person: input files of batches, results files, exports and
 * reports. `traces`: the data of the store by which the person is found in files.
 */
export async function findFilesOfPerson(
  { batches, writtenFiles, reportFolders }: Pick<Services, 'batches' | 'writtenFiles' | 'reportFolders'>,
  traces: PersonTraces,
  target: Exclude<ErasureTarget, { endedBefore: number }>,
): Promise<FoundFiles> {
  const batchesOfPerson = new Map(traces.batches.map((batch) => [batch.id, batch]))
  const requests = traces.rows.flatMap(({ requestId, baseUrl }) =>
    requestId === undefined ? [] : [{ requestId, service: addressOf(baseUrl) }],
  )
  const requestIds = new Set(requests.map(({ requestId }) => requestId))
  if ('requestId' in target) requestIds.add(target.requestId.toLowerCase())
  // Without a row the service is unknown, so only the id is compared.
  const isOfPerson = (id: string, service: string): boolean =>
    requests.length === 0
      ? requestIds.has(id)
      : requests.some((each) => each.requestId === id && each.service === service)
  const emails = [
    ...('email' in target ? [target.email.toLowerCase()] : []),
    ...traces.rows.flatMap(({ email }) => email?.toLowerCase() ?? []),
  ]
  const words = [...requestIds, ...emails]
  const mayShowPerson = async (path: string, batchId: string): Promise<boolean> => {
    const batch = batchesOfPerson.get(batchId)
    if (batch === undefined) return false
    // Files of rows that were not ordered contain no request id, so an unknown e-mail address proves nothing.
    return (
      batch.namedAsSimilar !== undefined || emails.length === 0 || ((await containsWord(path, words)) ?? true)
    )
  }
  const inputs = new Set((await batches.list()).map(({ path }) => path))
  const found: FoundFiles = { files: [], reports: [], filesToRemember: [], pathsToForget: [] }
  const foundPaths = new Set<string>()
  const addFile = (path: string, writtenKind: FoundFile['kind']): void => {
    if (foundPaths.has(path)) return
    foundPaths.add(path)
    // The user may have edited a file that refcheck wrote, and made a batch from it.
    const kind = inputs.has(path) ? 'input' : writtenKind
    const isNeverDeleted = userKinds.has(kind) || (!reportKinds.has(kind) && isReplaceable(path))
    found.files.push({ path, kind, isNeverDeleted })
  }
  for (const { id, path, resultsFile } of traces.batches) {
    if (path !== undefined && (await isFile(path)) && (await mayShowPerson(path, id))) addFile(path, 'input')
    if (resultsFile === undefined || !(await isFile(resultsFile))) continue
    if (!(await mayShowPerson(resultsFile, id))) continue
    addFile(resultsFile, 'results')
    found.filesToRemember.push({ path: resultsFile, kind: 'results', batchId: id })
  }
  for (const file of await writtenFiles.list()) {
    if (file.kind === 'reports') {
      await addReports(file.path)
    } else if (!(await isFile(file.path))) {
      await writtenFiles.remove(file.path)
    } else if (
      file.batchId === undefined
        ? (await containsWord(file.path, words)) === true
        : await mayShowPerson(file.path, file.batchId)
    ) {
      addFile(file.path, file.kind)
    }
  }
  const hasNameInPath = ({ path }: { path: string }): boolean =>
    traces.rows.some((person) => containsPersonName(path, person))
  // A report is found by its folder, so its own path is not stored.
  found.pathsToForget = found.files
    .filter((file) => file.kind !== 'report' && hasNameInPath(file))
    .map(({ path }) => path)
  found.files.sort(
    (one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind) || (one.path < other.path ? -1 : 1),
  )
  found.filesToRemember = found.filesToRemember.filter((file) => !hasNameInPath(file))
  return found

  async function addReports(folder: string): Promise<void> {
    const records = (await reportFolders.readRecords(folder)).filter(
      ({ request_id, service }) => request_id !== null && isOfPerson(request_id, service),
    )
    if (records.length === 0) return
    for (const { file } of records) {
      const path = join(folder, ...file.split('/'))
      if (await isFile(path)) addFile(path, 'report')
    }
    addFile(join(folder, 'manifest.json'), 'manifest')
    found.reports.push({ folder, keys: records.map(reportKey) })
  }
}

/** Whether a file contains one of these lower-case words; undefined if it cannot be read. */
async function containsWord(path: string, words: readonly string[]): Promise<boolean | undefined> {
  const encodedWords = words.map((word) => Buffer.from(word).toString('latin1').toLowerCase())
  let previous = ''
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: blockBytes })) {
      const text = (chunk as Buffer).toString('latin1')
      if (previous === '' && text.startsWith('PK\u0003\u0004')) return await workbookContains(path, words)
      // Without zero bytes, an e-mail address in UTF-16 is the same text as in UTF-8.
      const searched = previous + text.replaceAll('\0', '').toLowerCase()
      if (encodedWords.some((word) => searched.includes(word))) return true
      previous = searched.slice(-overlapChars)
    }
  } catch {
    return undefined
  }
  return false
}

async function workbookContains(path: string, words: readonly string[]): Promise<boolean> {
  const [{ openSheet }, { fileSource }, { jsonRow }, { textOf }] = await Promise.all([
    import('../../sheets/open.ts'),
    import('../../sheets/sheet.ts'),
    import('../../domain/batch/cell-value.ts'),
    import('../../domain/sheet/cell.ts'),
  ])
  const sheet = await openSheet(await fileSource(path, basename(path)), { readJson: jsonRow })
  for await (const { cells } of sheet.rows()) {
    const text = cells.map(textOf).join('\n').toLowerCase()
    if (words.some((word) => text.includes(word))) return true
  }
  return false
}
