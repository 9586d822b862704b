import type { Scope } from '../cli/scope.ts'
import { orderQuestion } from '../domain/submission/confirmation.ts'
import { statusOf } from '../domain/batch/standing.ts'
import { batchMeter } from '../output/batch-meter.ts'
import { planText } from '../output/views/batch-check.ts'
import { unlikelyWarning } from '../output/views/batch-rows-told.ts'
import { batchGoesOnText } from '../output/views/batches.ts'
import { batchNoticeText } from '../output/views/batch-notices.ts'
import type { OrderFileTalk } from '../usecases/batch/order-file.ts'
import type { FilePlace, NoticePort, ReadingPorts, RunPorts } from '../usecases/batch/ports.ts'
import type { StartPorts } from '../usecases/batch/start.ts'
import { knownAccount } from './account.ts'
import { api, governor } from './api.ts'
import { namingApi } from './package-names.ts'
import { orderPorts, pauseNote } from './request.ts'
import { schemas } from './schemas.ts'
import type { DefaultSources } from '../usecases/batch/read-file.ts'
import { packageSetting, setting } from './session.ts'
import { store } from './store.ts'

/** Where a command's files are. */
export function filePlace({ context }: Scope): FilePlace {
  return { cwd: context.cwd, stdin: context.streams.stdin }
}

/** Where the reading of a file comes from that no flag says. */
export async function readingDefaults(scope: Scope): Promise<DefaultSources> {
  const { openMappings } = await import('../store/config/mappings.ts')
  return { mappings: openMappings(scope.paths), setting: (key) => setting(scope, key) }
}

/** What reading, checking and planning a file needs. */
export async function batchFilePorts(scope: Scope) {
  const { openMappings } = await import('../store/config/mappings.ts')
  const reading: ReadingPorts = {
    api: await namingApi(scope),
    cache: await schemas(scope),
    mappings: openMappings(scope.paths),
    prompter: scope.prompter(),
    ...noticing(scope),
  }
  return { ...reading, packageSetting: await packageSetting(scope) }
}

/** The same with the store, for what compares a file with what was ordered before. */
export async function batchPlanPorts(scope: Scope) {
  const reading = await batchFilePorts(scope)
  const { clock, random } = scope.context
  const { batches, ledger, waiting } = await store(scope)
  return {
    ...reading,
    clock,
    random,
    place: filePlace(scope),
    batches,
    ledger,
    waiting,
    account: await knownAccount(scope),
    governor: await governor(scope),
  }
}

/** What running, resuming and settling need. */
export async function batchStartPorts(scope: Scope, signal: AbortSignal): Promise<StartPorts> {
  const { api: own, ledger, clock, random } = await orderPorts(scope, signal)
  const { batches, waiting, inbox, orphans } = await store(scope)
  const pace = await governor(scope)
  // What others have used of the quota counts for the time that is left.
  await pace.standing()
  const run: RunPorts = {
    api: own,
    ledger,
    clock,
    random,
    signal,
    batches,
    waiting,
    governor: pace,
    cache: await schemas(scope),
    onPaced: pauseNote(scope),
  }
  return {
    ...run,
    ...noticing(scope),
    inbox,
    orphans,
    place: filePlace(scope),
    prompter: scope.prompter(),
    meter: await batchMeter({
      clock,
      secondsFor: (creates, callMs) => pace.secondsFor(creates, callMs),
      progress: scope.progress(),
      note: scope.note,
    }),
    waitBudgetMs: scope.options.timeoutMs ?? Number.POSITIVE_INFINITY,
  }
}

/** What is shown before anything is sent; `confirm` throws where the person does not want it. */
export function orderTalk(
  scope: Scope,
  { quiet, yes, showChanges }: { quiet: boolean; yes: boolean; showChanges: boolean },
  confirm: (question: string) => Promise<void>,
): (name: string) => OrderFileTalk {
  const { reporter } = scope
  return (name) => ({
    onKnown: (batch) => reporter.note(batchGoesOnText(statusOf(batch))),
    onPlan: (plan) => {
      if (!quiet || !yes) return reporter.block(planText(plan, name, reporter.terminal, showChanges))
      const warning = unlikelyWarning(plan, name)
      if (warning !== undefined) reporter.warn(warning)
    },
    confirm: async (about) => confirm(orderQuestion(about, await api(scope))),
  })
}

function noticing({ reporter }: Scope): NoticePort {
  return {
    onNotice(notice) {
      const said = batchNoticeText(notice)
      if (said?.matters === true) reporter.warn(said.text)
      else if (said !== undefined) reporter.note(said.text)
    },
  }
}
