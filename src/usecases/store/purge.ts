import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { isDraftSelected } from '../../domain/form/stored-draft.ts'
import { retentionStart } from '../../domain/wording/time.ts'
import type { ErasureTarget, PersonNames, PurgeResult } from '../../domain/store/types.ts'
import type { Services } from '../services.ts'
import { eraseFiles } from './erase-files.ts'
import { findFilesOfPerson, type FoundFile, type FoundFiles } from './files-of-person.ts'

export const purgeServices = [
  'maintenance',
  'ledger',
  'batches',
  'drafts',
  'plans',
  'writtenFiles',
  'reportFolders',
] as const

type PurgeServices = Pick<Services, (typeof purgeServices)[number]>

export interface PurgeOptions {
  dryRun: boolean
  /** Whether fingerprints of people are removed too; an old file would then order the person again. */
  completely: boolean
  /** Called if there is something to remove; throws if the user does not confirm. */
  confirm: (found: PurgedAll, people: readonly PersonNames[]) => Promise<void>
  /** Asks the user whether to delete the files that refcheck wrote, too. */
  confirmFileDeletion: (files: readonly FoundFile[]) => Promise<boolean>
}

/** The numbers of items that were removed from a store, and the files outside it. */
export interface PurgedAll extends PurgeResult {
  drafts: number
  plans: number
  /** `isRefused`: the file was not deleted, because a link could redirect the deletion. */
  files: (FoundFile & { isDeleted: boolean; isRefused?: boolean })[]
  /** Whether another purge of the same person would find the files that can be deleted. */
  canFindFilesAgain: boolean
}

const noFiles: FoundFiles = { files: [], reports: [], filesToRemember: [], pathsToForget: [] }

/**
 * Removes all data of a person, or all expired data, from the store and from this machine; with `dryRun` only counts
 * it. Files are searched for only if a person is named, and deleted only if the user confirms it.
 */
export async function purgeAll(
  services: PurgeServices,
  target: ErasureTarget,
  { dryRun, completely, confirm, confirmFileDeletion }: PurgeOptions,
): Promise<PurgedAll> {
  const { maintenance, ledger, drafts, plans, writtenFiles } = services
  // Determined first, since the purge removes the link between a request and its person.
  const emails = await findEmails(ledger, target)
  const draftIds = await findDraftIds(drafts, target, emails)
  const planCodes = await findPlanCodes(plans, emails)
  const traces = 'endedBefore' in target ? undefined : await maintenance.findTraces(target)
  const foundFiles =
    traces === undefined || 'endedBefore' in target
      ? noFiles
      : await findFilesOfPerson(services, traces, target)
  const notDeletedFiles = foundFiles.files.map((file) => ({ ...file, isDeleted: false }))
  const canFindFilesAgain = !completely && foundFiles.pathsToForget.length === 0
  const counts = {
    drafts: draftIds.length,
    plans: planCodes.length,
    files: notDeletedFiles,
    canFindFilesAgain,
  }
  const found = { ...(await maintenance.purge(target, { dryRun: true, completely })), ...counts }
  if (dryRun) return found
  const hasNothingToRemove = found.rows + found.events + draftIds.length + planCodes.length === 0
  if (!hasNothingToRemove || completely) await confirm(found, traces?.rows ?? [])
  const deletableFiles = foundFiles.files.filter(({ isNeverDeleted }) => !isNeverDeleted)
  const shouldDelete = deletableFiles.length > 0 && (await confirmFileDeletion(deletableFiles))
  if (hasNothingToRemove && found.areStoreFilesClean && !completely && !shouldDelete) return found
  if (!shouldDelete) for (const file of foundFiles.filesToRemember) await writtenFiles.add(file)
  for (const path of foundFiles.pathsToForget) await writtenFiles.remove(path)
  const filesToErase = {
    drafts: draftIds,
    plans: planCodes,
    files: shouldDelete
      ? deletableFiles.flatMap(({ path, kind }) => (kind === 'report' || kind === 'manifest' ? [] : [path]))
      : [],
    reports: shouldDelete ? foundFiles.reports : [],
  }
  const refusedPaths = new Set<string>()
  const purged = await maintenance.purge(
    target,
    { dryRun: false, completely, files: filesToErase },
    async (each) => {
      for (const path of await eraseFiles(services, each)) refusedPaths.add(path)
    },
  )
  const filesAfter = shouldDelete
    ? notDeletedFiles.map((file) => {
        const isRefused = refusedPaths.has(file.path)
        return { ...file, isRefused, isDeleted: !file.isNeverDeleted && !isRefused }
      })
    : notDeletedFiles
  return { ...purged, ...counts, files: filesAfter }
}

/**
 * Returns the text of the setting `retention`, and the time before which data is expired; undefined if it is not set.
 */
export function findRetentionLimit(
  text: string | undefined,
  now: number,
): { text: string; endedBefore: number } | undefined {
  const endedBefore = text === undefined ? undefined : retentionStart(text, now)
  return text === undefined || endedBefore === undefined ? undefined : { text, endedBefore }
}

/** Purges data that is older than the retention, or counts it with `dryRun`. Undefined if the setting is not set. */
export async function purgeExpired(
  services: PurgeServices & Pick<Services, 'clock'>,
  retention: string | undefined,
  dryRun: boolean,
): Promise<PurgedAll | undefined> {
  const limit = findRetentionLimit(retention, services.clock.now())
  if (limit === undefined) return undefined
  return purgeAll(services, limit, {
    dryRun,
    completely: false,
    // The setting is the confirmation.
    confirm: async () => undefined,
    confirmFileDeletion: () => Promise.resolve(false),
  })
}

async function findEmails(ledger: Services['ledger'], target: ErasureTarget): Promise<string[]> {
  if ('endedBefore' in target) return []
  if ('email' in target) return [target.email]
  return (await ledger.list(target)).flatMap(({ recipient }) => recipient?.email ?? [])
}

/** Returns the ids of stored drafts to remove. */
async function findDraftIds(
  drafts: Services['drafts'],
  target: ErasureTarget,
  emails: readonly string[],
): Promise<string[]> {
  const found = (await drafts.list()).filter((draft) =>
    'endedBefore' in target
      ? isDraftSelected(draft, { savedBefore: target.endedBefore })
      : emails.some((email) => isDraftSelected(draft, { email })),
  )
  // A damaged draft may belong to any person and cannot be continued, so it is removed too.
  return [...found.map(({ id }) => id), ...(await drafts.listUnreadable())]
}

/** Returns the codes of waiting plans about the person. Expired plans are removed by the regular sweep. */
async function findPlanCodes(plans: Services['plans'], emails: readonly string[]): Promise<string[]> {
  if (emails.length === 0) return []
  const found: string[] = []
  for (const code of await plans.listWaiting()) {
    const plan = await plans.find(code).catch(() => undefined)
    if (plan !== undefined && isAbout(plan, emails)) found.push(code)
  }
  return found
}

function isAbout(plan: OrderPlan | UsedPlan, emails: readonly string[]): boolean {
  const text = JSON.stringify(plan).toLowerCase()
  return emails.some((email) => text.includes(email.toLowerCase()))
}
