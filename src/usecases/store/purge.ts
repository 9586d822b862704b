import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { isDraftOf } from '../../domain/form/kept-draft.ts'
import type { Forgotten, Purged } from '../../domain/store/told.ts'
import type { Drafts } from '../../store/drafts/drafts.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { Maintenance } from '../../store/ledger/maintenance.ts'
import type { OrderPlans } from '../../store/plans/order-plans.ts'

export interface PurgePorts {
  maintenance: Pick<Maintenance, 'purge'>
  ledger: Pick<Ledger, 'list'>
  drafts: Pick<Drafts, 'all' | 'unreadable' | 'drop'>
  plans: Pick<OrderPlans, 'waiting' | 'find' | 'drop'>
  /** Asked where there is something to remove; throws where nothing is to be removed after all. */
  confirm: (found: PurgedAll) => Promise<void>
}

/** What is removed of a store, and of the files beside it. */
export interface PurgedAll extends Purged {
  drafts: number
  plans: number
}

/** Removes what names a person, or what is old, wherever this machine keeps it; with `dryRun` it counts. */
export async function purgeAll(
  { maintenance, ledger, drafts, plans, confirm }: PurgePorts,
  who: Forgotten,
  { dryRun, completely }: { dryRun: boolean; completely: boolean },
): Promise<PurgedAll> {
  // Looked for first: the purge forgets whose a request was.
  const emails = await emailsOf(ledger, who)
  const own = await draftsOf(drafts, who, emails)
  const planned = await plansOf(plans, emails)
  const beside = { drafts: own.length, plans: planned.length }
  const found = { ...(await maintenance.purge(who, { dryRun: true, completely })), ...beside }
  const isNothing = found.rows + found.events + own.length + planned.length === 0
  if (dryRun || (isNothing && found.isScrubbed && !completely)) return found
  if (!isNothing || completely) await confirm(found)
  for (const id of own) await drafts.drop(id)
  for (const code of planned) await plans.drop(code)
  return { ...(await maintenance.purge(who, { dryRun: false, completely })), ...beside }
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
