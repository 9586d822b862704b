import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { isDraftOf } from '../../domain/form/kept-draft.ts'
import type { Forgotten, Purged } from '../../domain/store/told.ts'
import type { Drafts } from '../../store/drafts/drafts.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { Maintenance } from '../../store/ledger/maintenance.ts'
import type { OrderPlans } from '../../store/plans/order-plans.ts'
import {
  eraseFiles,
  type ErasePorts,
  type FilePorts,
  filesOfPerson,
  type FoundFile,
  type FoundFiles,
} from './files-of-person.ts'

export interface PurgePorts extends FilePorts, ErasePorts {
  maintenance: Pick<Maintenance, 'purge' | 'traces'>
  ledger: Pick<Ledger, 'list'>
  drafts: Pick<Drafts, 'all' | 'unreadable' | 'drop'>
  plans: Pick<OrderPlans, 'waiting' | 'find' | 'drop'>
  written: FilePorts['written'] & ErasePorts['written']
  /** Asked where there is something to remove; throws where nothing is to be removed after all. */
  confirm: (found: PurgedAll) => Promise<void>
  /** Whether files that refcheck wrote are deleted too. */
  deletesFiles: (files: readonly FoundFile[]) => Promise<boolean>
}

/** What is removed of a store, and of the files beside it. */
export interface PurgedAll extends Purged {
  drafts: number
  plans: number
  files: (FoundFile & { isDeleted: boolean })[]
  /** Whether another purge of the same person finds those of the files that could be deleted. */
  isFoundAgain: boolean
}

const noFiles: FoundFiles = { files: [], reports: [], toRemember: [], toForget: [] }

/**
 * Removes what names a person, or what is old, wherever this machine keeps it; with `dryRun` it counts. Files are looked for
 * where a person is named, and deleted where that is wanted.
 */
export async function purgeAll(
  ports: PurgePorts,
  who: Forgotten,
  { dryRun, completely }: { dryRun: boolean; completely: boolean },
): Promise<PurgedAll> {
  const { maintenance, ledger, drafts, plans, written } = ports
  // Looked for first: the purge forgets whose a request was.
  const emails = await emailsOf(ledger, who)
  const own = await draftsOf(drafts, who, emails)
  const planned = await plansOf(plans, emails)
  const outside =
    'endedBefore' in who ? noFiles : await filesOfPerson(ports, await maintenance.traces(who), who)
  const left = outside.files.map((file) => ({ ...file, isDeleted: false }))
  const isFoundAgain = !completely && outside.toForget.length === 0
  const beside = { drafts: own.length, plans: planned.length, files: left, isFoundAgain }
  const found = { ...(await maintenance.purge(who, { dryRun: true, completely })), ...beside }
  if (dryRun) return found
  const isNothing = found.rows + found.events + own.length + planned.length === 0
  if (!isNothing || completely) await ports.confirm(found)
  const deletable = outside.files.filter(({ isLeft }) => !isLeft)
  const deletes = deletable.length > 0 && (await ports.deletesFiles(deletable))
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
  const purged = await maintenance.purge(who, { dryRun: false, completely, files }, (each) =>
    eraseFiles(ports, each),
  )
  const after = deletes ? left.map((file) => ({ ...file, isDeleted: !file.isLeft })) : left
  return { ...purged, ...beside, files: after }
}

async function emailsOf(ledger: PurgePorts['ledger'], who: Forgotten): Promise<string[]> {
  if ('endedBefore' in who) return []
  if ('email' in who) return [who.email]
  return (await ledger.list(who)).flatMap(({ recipient }) => recipient?.email ?? [])
}

/** Ids of kept answers. */
async function draftsOf(
  drafts: PurgePorts['drafts'],
  who: Forgotten,
  emails: readonly string[],
): Promise<string[]> {
  const found = (await drafts.all()).filter((draft) =>
    'endedBefore' in who
      ? isDraftOf(draft, { savedBefore: who.endedBefore })
      : emails.some((email) => isDraftOf(draft, { email })),
  )
  // Whom a damaged one is about nobody can say; nobody can go on from it either.
  return [...found.map(({ id }) => id), ...(await drafts.unreadable())]
}

/** Codes of plans that wait; what is old, sweeping removes by itself. */
async function plansOf(plans: PurgePorts['plans'], emails: readonly string[]): Promise<string[]> {
  if (emails.length === 0) return []
  const found: string[] = []
  for (const code of await plans.waiting()) {
    const plan = await plans.find(code).catch(() => undefined)
    if (plan !== undefined && holds(plan, emails)) found.push(code)
  }
  return found
}

function holds(plan: OrderPlan | UsedPlan, emails: readonly string[]): boolean {
  const text = JSON.stringify(plan).toLowerCase()
  return emails.some((email) => text.includes(email.toLowerCase()))
}
