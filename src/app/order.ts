import type { App } from './app.ts'
import { localDay } from '../domain/wording/time.ts'
import { createReviewPrinter } from '../output/views/order.ts'
import { createPhoneRepair } from '../usecases/form/phone-repair.ts'
import type { SimilarQuestion } from '../usecases/request/create.ts'
import { DraftKeeper } from '../usecases/request/draft-keeper.ts'
import type { PrepareOptions } from '../usecases/request/prepare-order.ts'
import { readAndLinkPackages } from '../usecases/batch/packages.ts'
import { storePackageSuccessors } from './request.ts'

/** Creates the store of the answers about one person. `resumeCommand`: the command line that continues from them. */
export function createDraftKeeper(app: App, resumeCommand: string): DraftKeeper {
  return new DraftKeeper(async () => {
    const { api, ...services } = await app.services('api', 'drafts', 'clock', 'random')
    const { baseUrl, userEmail } = api
    return {
      ...services,
      owner: { baseUrl, userEmail, account: await app.accountInUse() },
      onMessage: app.note,
      async findPredecessors(packageId) {
        const { heldRows } = await app.services('heldRows')
        await readAndLinkPackages({ api, heldRows, clock: services.clock })
        const { relatedIds, predecessors } = await heldRows.readPackageRelations(baseUrl, packageId)
        return new Set([...relatedIds, ...predecessors])
      },
    }
  }, resumeCommand)
}

/** Returns the options for preparing one order. `country`: the country of phone numbers without +. */
export async function createPrepareOptions(
  app: App,
  signal: AbortSignal,
  flags: { country: string | undefined; yes: boolean },
  { similarQuestion, draftKeeper }: { similarQuestion: SimilarQuestion; draftKeeper: DraftKeeper },
): Promise<PrepareOptions> {
  // Throws if the account in use was not added to the store.
  await app.service('account')
  const { api, schemas } = await app.services('api', 'schemas')
  const country = flags.country ?? (await app.setting('default-country'))
  return {
    api,
    signal,
    schemas,
    prompter: app.prompter(),
    yes: flags.yes,
    repair: country === undefined ? undefined : await createPhoneRepair(country),
    today: localDay(app.context.clock.now()),
    onPackages: storePackageSuccessors(app),
    onImprobable: (text) => app.reporter.warn(text),
    onPerson: flags.yes
      ? undefined
      : (body, isMoreAsked) => similarQuestion.checkEarly(body, api.baseUrl, isMoreAsked),
    onAnswer: (body, pack) => draftKeeper.saveDraft(body, pack.name),
    onDrop: () => draftKeeper.deleteDraft(),
    onUnavailable: (problem, successor) => draftKeeper.decideUnavailable(problem, successor, app.prompter()),
    orderWarning: (body) => similarQuestion.orderWarning(body),
    showPage: createReviewPrinter(app.reporter),
  }
}
