import type { OrderPlan, UsedPlan } from '../../domain/approval/order-plan.ts'
import { isDraftOf, type KeptDraft } from '../../domain/form/kept-draft.ts'
import type { Forgotten } from '../../domain/store/told.ts'
import type { Drafts } from '../../store/drafts/drafts.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'
import type { OrderPlans } from '../../store/plans/order-plans.ts'

/** Kept answers of whom a purge is about: looked for before the purge, which forgets whose a request was. */
export async function draftsOf(
  { drafts, ledger }: { drafts: Pick<Drafts, 'all' | 'unreadable'>; ledger: Pick<Ledger, 'list'> },
  who: Forgotten,
): Promise<string[]> {
  const ids = async (isMeant: (draft: KeptDraft) => boolean): Promise<string[]> => {
    const found = (await drafts.all()).filter(isMeant).map(({ id }) => id)
    // Whom a damaged one is about nobody can say; nobody can go on from it either.
    return [...found, ...(await drafts.unreadable())]
  }
  if ('endedBefore' in who) return ids((draft) => isDraftOf(draft, { savedBefore: who.endedBefore }))
  const emails = await emailsOf(ledger, who)
  return ids((draft) => emails.some((email) => isDraftOf(draft, { email })))
}

/** Codes of plans that wait and hold the e-mail of whom a purge is about; what is old, sweeping removes by itself. */
export async function plansOf(
  { plans, ledger }: { plans: Pick<OrderPlans, 'waiting' | 'find'>; ledger: Pick<Ledger, 'list'> },
  who: Forgotten,
): Promise<string[]> {
  if ('endedBefore' in who) return []
  const emails = await emailsOf(ledger, who)
  const found: string[] = []
  for (const code of await plans.waiting()) {
    const plan = await plans.find(code).catch(() => undefined)
    if (plan !== undefined && holds(plan, emails)) found.push(code)
  }
  return found
}

async function emailsOf(
  ledger: Pick<Ledger, 'list'>,
  who: { email: string } | { requestId: string },
): Promise<string[]> {
  if ('email' in who) return [who.email]
  return (await ledger.list(who)).flatMap(({ recipient }) => recipient?.email ?? [])
}

function holds(plan: OrderPlan | UsedPlan, emails: readonly string[]): boolean {
  const text = JSON.stringify(plan).toLowerCase()
  return emails.some((email) => text.includes(email.toLowerCase()))
}
