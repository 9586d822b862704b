import type { Scope } from '../cli/scope.ts'
import type { Drafts } from '../store/drafts/drafts.ts'
import { DraftKeeper } from '../usecases/request/draft-keeper.ts'
import { api } from './api.ts'
import { account } from './session.ts'

/** Answers that were not ordered yet, on this machine. */
export async function drafts(scope: Scope): Promise<Drafts> {
  const { openDrafts } = await import('../store/drafts/drafts.ts')
  return openDrafts({ paths: scope.paths, random: scope.context.random, onNotice: scope.note })
}

/** What keeps the answers of one person; `resume` is the command line that goes on from them. */
export function draftKeeper(scope: Scope, resume: string): DraftKeeper {
  const { clock, random } = scope.context
  return new DraftKeeper(async () => {
    const { baseUrl, userEmail } = await api(scope)
    const owner = { baseUrl, userEmail, account: await account(scope) }
    return { drafts: await drafts(scope), owner, clock, random, onNotice: scope.note }
  }, resume)
}
