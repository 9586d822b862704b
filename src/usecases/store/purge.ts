import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { isDraftOf } from '../../domain/form/stored-draft.ts'
import { retainedSince } from '../../domain/wording/time.ts'
import type { ErasureTarget, Named, Purged } from '../../domain/store/types.ts'
import type { Services } from '../services.ts'
import { eraseFiles, filesOfPerson, type FoundFile, type FoundFiles } from './files-of-person.ts'

export const purgeServices = ['maintenance', 'ledger', 'drafts', 'plans', 'written', 'reportFolders'] as const

type PurgeServices = Pick<Services, (typeof purgeServices)[number]>

interface PurgeOptions {
  dryRun: boolean
  completely: boolean
  /** Asked where there is something to remove; throws where nothing is to be removed after all. */
  confirm: (found: PurgedAll, people: readonly Named[]) => Promise<void>
  /** Whether files that refcheck wrote are deleted too. */
  deletesFiles: (files: readonly FoundFile[]) => Promise<boolean>
}

/** What is removed of a store, and of the files next to it. */
export interface PurgedAll extends Purged {
  drafts: number
  plans: number
  /** `isRefused`: it was to be deleted, but a link is in the way, or could be. */
  files: (FoundFile & { isDeleted: boolean; isRefused?: boolean })[]
  /** Whether another purge of the same person finds those of the files that could be deleted. */
  isFoundAgain: boolean
}

const noFiles: FoundFiles = { files: [], reports: [], toRemember: [], toForget: [] }

/**
 * Removes what names a person, or what is old, wherever this machine keeps it; with `dryRun` it counts. Files are looked for
 * where a person is named, and deleted where that is wanted.
 */
export async function purgeAll(
  services: PurgeServices,
  who: ErasureTarget,
  { dryRun, completely, confirm, deletesFiles }: PurgeOptions,
): Promise<PurgedAll> {
  const { maintenance, ledger, drafts, plans, written } = services
  // Looked for first: the purge forgets whose a request was.
  const emails = await emailsOf(ledger, who)
  const own = await draftsOf(drafts, who, emails)
  const planned = await plansOf(plans, emails)
  const traces = 'endedBefore' in who ? undefined : await maintenance.traces(who)
  const outside =
    traces === undefined || 'endedBefore' in who ? noFiles : await filesOfPerson(services, traces, who)
  const left = outside.files.map((file) => ({ ...file, isDeleted: false }))
  const isFoundAgain = !completely && outside.toForget.length === 0
  const counts = { drafts: own.length, plans: planned.length, files: left, isFoundAgain }
  const found = { ...(await maintenance.purge(who, { dryRun: true, completely })), ...counts }
  if (dryRun) return found
  const isNothing = found.rows + found.events + own.length + planned.length === 0
  if (!isNothing || completely) await confirm(found, traces?.rows ?? [])
  const deletable = outside.files.filter(({ isLeft }) => !isLeft)
  const deletes = deletable.length > 0 && (await deletesFiles(deletable))
  if (isNothing && found.isScrubbed && !completely && !deletes) return found
  if (!deletes) for (const file of outside.toRemember) await written.add(file)
  for (const path of outside.toForget) await written.drop(path)
  const files = {
    drafts: own,
    plans: planned,
    files: deletes
      ? deletable.flatMap(({ path, kind }) => (kind === 'report' || kind === 'manifest' ? [] : [path]))
      : [],
    reports: deletes ? outside.reports : [],
  }
  const notDeleted = new Set<string>()
  const purged = await maintenance.purge(who, { dryRun: false, completely, files }, async (each) => {
    for (const path of await eraseFiles(services, each)) notDeleted.add(path)
  })
  const after = deletes
    ? left.map((file) => {
        const isRefused = notDeleted.has(file.path)
        return { ...file, isRefused, isDeleted: !file.isLeft && !isRefused }
      })
    : left
  return { ...purged, ...counts, files: after }
}

/** The setting `retention` as it is written, and the moment before which it keeps nothing; undefined where it is not set. */
export function retentionLimit(
  text: string | undefined,
  now: number,
): { text: string; endedBefore: number } | undefined {
  const endedBefore = text === undefined ? undefined : retainedSince(text, now)
  return text === undefined || endedBefore === undefined ? undefined : { text, endedBefore }
}

/** Removes what is older than that setting says, or with `dryRun` counts it; undefined where it is not set. */
export async function purgeExpired(
  services: PurgeServices & Pick<Services, 'clock'>,
  retention: string | undefined,
  dryRun: boolean,
): Promise<PurgedAll | undefined> {
  const limit = retentionLimit(retention, services.clock.now())
  if (limit === undefined) return undefined
  return purgeAll(services, limit, {
    dryRun,
    completely: false,
    // The setting is the confirmation.
    confirm: async () => undefined,
    deletesFiles: () => Promise.resolve(false),
  })
}

async function emailsOf(ledger: Services['ledger'], who: ErasureTarget): Promise<string[]> {
  if ('endedBefore' in who) return []
  if ('email' in who) return [who.email]
  return (await ledger.list(who)).flatMap(({ recipient }) => recipient?.email ?? [])
}

/** Ids of kept answers. */
async function draftsOf(
  drafts: Services['drafts'],
  who: ErasureTarget,
  emails: readonly string[],
): Promise<string[]> {
  const found = (await drafts.all()).filter((draft) =>
    'endedBefore' in who
      ? isDraftOf(draft, { savedBefore: who.endedBefore })
      : emails.some((email) => isDraftOf(draft, { email })),
  )
  // A damaged one does not show its person, and cannot be continued either.
  return [...found.map(({ id }) => id), ...(await drafts.unreadable())]
}

/** Codes of plans that wait; what is old, sweeping removes by itself. */
async function plansOf(plans: Services['plans'], emails: readonly string[]): Promise<string[]> {
  if (emails.length === 0) return []
  const found: string[] = []
  for (const code of await plans.waiting()) {
    const plan = await plans.find(code).catch(() => undefined)
    if (plan !== undefined && isAbout(plan, emails)) found.push(code)
  }
  return found
}

function isAbout(plan: OrderPlan | UsedPlan, emails: readonly string[]): boolean {
  const text = JSON.stringify(plan).toLowerCase()
  return emails.some((email) => text.includes(email.toLowerCase()))
}
