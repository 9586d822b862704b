import { isDraftOf, type KeptDraft } from '../../domain/form/kept-draft.ts'
import type { Forgotten } from '../../domain/store/told.ts'
import type { Drafts } from '../../store/drafts/drafts.ts'
import type { Ledger } from '../../store/ledger/ledger.ts'

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
  if ('email' in who) return ids((draft) => isDraftOf(draft, who))
  const emails = (await ledger.list(who)).flatMap(({ recipient }) => recipient?.email ?? [])
  return ids((draft) => emails.some((email) => isDraftOf(draft, { email })))
}
