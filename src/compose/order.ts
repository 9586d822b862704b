import type { Scope } from '../cli/scope.ts'
import { localDay } from '../domain/wording/local-time.ts'
import { showReview } from '../output/views/order.ts'
import { phoneRepair } from '../usecases/form/phone-repair.ts'
import type { DraftKeeper } from '../usecases/request/draft-keeper.ts'
import type { PrepareOptions } from '../usecases/request/prepare-order.ts'
import type { SimilarQuestion } from '../usecases/request/similar-question.ts'
import { knownAccount } from './account.ts'
import { namingApi } from './package-names.ts'
import { keepSuccessions } from './request.ts'
import { schemas } from './schemas.ts'
import { setting } from './session.ts'

/** What putting one order together needs. `country`: whose phone numbers may lack the +. */
export async function orderForm(
  scope: Scope,
  signal: AbortSignal,
  given: { country: string | undefined; yes: boolean; dryRun: boolean },
  { similar, draft }: { similar: SimilarQuestion; draft: DraftKeeper },
): Promise<PrepareOptions> {
  await knownAccount(scope)
  const api = await namingApi(scope)
  const country = given.country ?? (await setting(scope, 'default-country'))
  return {
    api,
    signal,
    cache: await schemas(scope),
    prompter: scope.prompter(),
    yes: given.yes || given.dryRun,
    repair: country === undefined ? undefined : await phoneRepair(country),
    today: localDay(scope.context.clock.now()),
    onPackages: keepSuccessions(scope),
    onImprobable: (text) => scope.reporter.warn(text),
    onPerson:
      given.yes || given.dryRun ? undefined : (body, isMore) => similar.early(body, api.baseUrl, isMore),
    onAnswer: (body, pack) => draft.keep(body, pack.name),
    onDrop: () => draft.drop(),
    doubt: (body) => similar.doubt(body),
    show: showReview(scope.reporter),
  }
}
