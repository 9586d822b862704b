import { createReadStream } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { folderWeakness } from '../../disk/ownership.ts'
import { reportKey } from '../../domain/report/record.ts'
import { addressOf } from '../../domain/submission/identity.ts'
import { namesPerson } from '../../domain/store/erasure.ts'
import type { ErasureTarget, FilesToErase, Traces } from '../../domain/store/types.ts'
import type { WrittenFile, WrittenKind } from '../../store/written-files.ts'
import type { Services } from '../services.ts'

/** A file of this machine that shows the person. */
export interface FoundFile {
  path: string
  kind: Exclude<WrittenKind, 'reports'> | 'input' | 'report' | 'manifest'
  /** Whether it is the user's own, a backup, or where another account may have put another file: a purge leaves it alone. */
  isLeft: boolean
}

/** What was found of a person outside the store. */
export interface FoundFiles {
  files: FoundFile[]
  reports: FilesToErase['reports']
  /** Of those files, the ones that the next purge finds by this only: the store may no longer know of them. */
  toRemember: WrittenFile[]
  /** Those whose path is not kept because it names the person. */
  toForget: string[]
}

/** In the order in which they are listed. */
const kinds: readonly FoundFile['kind'][] = [
  'input',
  'results',
  'export',
  'plan',
  'report',
  'manifest',
  'backup',
]

const leftKinds: ReadonlySet<FoundFile['kind']> = new Set(['input', 'backup'])
/** They are removed by the folder that they are in, which is checked then. */
const ofReports: ReadonlySet<FoundFile['kind']> = new Set(['report', 'manifest'])

/** A text search reads so many bytes at once, and so many of them again with the next. */
const blockBytes = 1024 * 1024
const overlapChars = 512

/** Files of this machine that still show the person: what batches were read from and written to, exports, and reports. */
export async function filesOfPerson(
  { written, reportFolders }: Pick<Services, 'written' | 'reportFolders'>,
  traces: Traces,
  who: Exclude<ErasureTarget, { endedBefore: number }>,
): Promise<FoundFiles> {
  const batchIds = new Set(traces.batches.map(({ id }) => id))
  const requests = traces.rows.flatMap(({ requestId, baseUrl }) =>
    requestId === undefined ? [] : [{ requestId, service: addressOf(baseUrl) }],
  )
  const requestIds = new Set(requests.map(({ requestId }) => requestId))
  if ('requestId' in who) requestIds.add(who.requestId.toLowerCase())
  // Without a row there is no service to compare: the id alone was named.
  const isOfPerson = (id: string, service: string): boolean =>
    requests.length === 0
      ? requestIds.has(id)
      : requests.some((each) => each.requestId === id && each.service === service)
  const words = [
    ...requestIds,
    ...('email' in who ? [who.email.toLowerCase()] : []),
    ...traces.rows.flatMap(({ email }) => email?.toLowerCase() ?? []),
  ]
  const found: FoundFiles = { files: [], reports: [], toRemember: [], toForget: [] }
  const seen = new Set<string>()
  const add = (path: string, kind: FoundFile['kind']): void => {
    if (seen.has(path)) return
    seen.add(path)
    const isLeft = leftKinds.has(kind) || (!ofReports.has(kind) && isReplaceable(path))
    found.files.push({ path, kind, isLeft })
  }
  for (const { id, path, resultsFile } of traces.batches) {
    if (path !== undefined && (await isFile(path))) add(path, 'input')
    if (resultsFile === undefined || !(await isFile(resultsFile))) continue
    add(resultsFile, 'results')
    found.toRemember.push({ path: resultsFile, kind: 'results', batchId: id })
  }
  for (const file of await written.all()) {
    if (file.kind === 'reports') {
      await addReports(file.path)
    } else if (!(await isFile(file.path))) {
      await written.drop(file.path)
    } else if (
      file.batchId === undefined ? await containsWord(file.path, words) : batchIds.has(file.batchId)
    ) {
      add(file.path, file.kind)
    }
  }
  const isNamed = ({ path }: { path: string }): boolean =>
    traces.rows.some((person) => namesPerson(path, person))
  // A report is found by its folder.
  found.toForget = found.files
    .filter((file) => file.kind !== 'report' && isNamed(file))
    .map(({ path }) => path)
  found.files.sort(
    (one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind) || (one.path < other.path ? -1 : 1),
  )
  found.toRemember = found.toRemember.filter((file) => !isNamed(file))
  return found

  async function addReports(folder: string): Promise<void> {
    const records = (await reportFolders.recordsIn(folder)).filter(
      ({ request_id, service }) => request_id !== null && isOfPerson(request_id, service),
    )
    if (records.length === 0) return
    for (const { file } of records) {
      const path = join(folder, ...file.split('/'))
      if (await isFile(path)) add(path, 'report')
    }
    add(join(folder, 'manifest.json'), 'manifest')
    found.reports.push({ folder, keys: records.map(reportKey) })
  }
}

/** May be repeated. Answers the paths of what could not be removed safely. */
export async function eraseFiles(
  { drafts, plans, written, reportFolders }: Pick<Services, 'drafts' | 'plans' | 'written' | 'reportFolders'>,
  files: FilesToErase,
): Promise<string[]> {
  for (const id of files.drafts) await drafts.drop(id)
  for (const code of files.plans) await plans.drop(code)
  let failure: unknown
  const left: string[] = []
  for (const path of files.files) {
    if (isReplaceable(path)) continue
    if (await isFile(path)) await rm(path, { force: true })
    await written.drop(path)
  }
  for (const { folder, keys } of files.reports) {
    // A folder that cannot be used does not keep the reports of the others.
    try {
      left.push(...(await reportFolders.erase(folder, keys)))
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
  return left
}

/** Whether another account owns it, or could have put it there: it owns a folder above it, or may rename one. */
const isReplaceable = (path: string): boolean => folderWeakness(path) !== undefined

/** Links are not followed. */
async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() === true
}

/** Whether a file has one of these words, in lower case, as UTF-8; one that cannot be read has none. */
async function containsWord(path: string, words: readonly string[]): Promise<boolean> {
  if (words.length === 0) return false
  const wanted = words.map((word) => Buffer.from(word).toString('latin1'))
  let before = ''
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: blockBytes })) {
      const text = before + (chunk as Buffer).toString('latin1').toLowerCase()
      if (wanted.some((word) => text.includes(word))) return true
      before = text.slice(-overlapChars)
    }
  } catch {
    return false
  }
  return false
}
