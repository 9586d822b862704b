import { existsSync } from 'node:fs'

import type { App } from './app.ts'
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
import { orderPorts, pauseNote } from './request.ts'
import type { DefaultSources } from '../usecases/batch/read-file.ts'
import type { Batch } from '../domain/batch/batch.ts'
import type { View } from '../output/view.ts'
import { stoppedRows } from '../usecases/batch/read-batch.ts'

/** Where a command's files are. */
export function filePlace({ context }: App): FilePlace {
  return { cwd: context.cwd, stdin: context.streams.stdin }
}

/** Where the reading of a file comes from that no flag says. */
export async function readingDefaults(app: App): Promise<DefaultSources> {
  const { openMappings } = await import('../store/config/mappings.ts')
  return { mappings: openMappings(app.paths), setting: (key) => app.setting(key) }
}

/** What reading, checking and planning a file needs. */
export async function batchFilePorts(app: App) {
  const { openMappings } = await import('../store/config/mappings.ts')
  const reading: ReadingPorts = {
    api: (await app.services('api')).api,
    cache: (await app.services('schemas')).schemas,
    mappings: openMappings(app.paths),
    prompter: app.prompter(),
    ...noticing(app),
  }
  return { ...reading, packageSetting: await app.packageSetting() }
}

/** The same with the store, for what compares a file with what was ordered before. */
export async function batchPlanPorts(app: App) {
  const reading = await batchFilePorts(app)
  const { clock, random } = app.context
  const { batches, ledger, waiting } = await app.services('batches', 'ledger', 'waiting')
  return {
    ...reading,
    clock,
    random,
    place: filePlace(app),
    batches,
    ledger,
    waiting,
    account: (await app.services('account')).account,
    governor: (await app.services('governor')).governor,
  }
}

/** What running, resuming and settling need. */
export async function batchStartPorts(app: App, signal: AbortSignal): Promise<StartPorts> {
  const { api: own, ledger, account, clock, random } = await orderPorts(app, signal)
  const { batches, waiting, inbox, orphans } = await app.services('batches', 'waiting', 'inbox', 'orphans')
  const { governor: pace } = await app.services('governor')
  // What others have used of the quota counts for the time that is left.
  await pace.standing()
  const run: RunPorts = {
    api: own,
    ledger,
    account,
    clock,
    random,
    signal,
    batches,
    waiting,
    governor: pace,
    cache: (await app.services('schemas')).schemas,
    onPaced: pauseNote(app),
  }
  return {
    ...run,
    ...noticing(app),
    inbox,
    orphans,
    place: filePlace(app),
    prompter: app.prompter(),
    meter: await batchMeter({
      clock,
      secondsFor: (creates, callMs) => pace.secondsFor(creates, callMs),
      progress: app.progress(),
      note: app.note,
    }),
    waitBudgetMs: app.options.timeoutMs ?? Number.POSITIVE_INFINITY,
  }
}

/** What is shown before anything is sent; `confirm` throws where the person does not want it. */
export function orderTalk(
  app: App,
  { quiet, yes, showChanges }: { quiet: boolean; yes: boolean; showChanges: boolean },
  confirm: (question: string) => Promise<void>,
): (name: string) => OrderFileTalk {
  const { reporter } = app
  return (name) => ({
    onKnown: (batch) => reporter.note(batchGoesOnText(statusOf(batch))),
    onPlan: (plan) => {
      if (!quiet || !yes) return reporter.block(planText(plan, name, reporter.terminal, showChanges))
      const warning = unlikelyWarning(plan, name)
      if (warning !== undefined) reporter.warn(warning)
    },
    confirm: async (about) => confirm(orderQuestion(about, (await app.services('api')).api)),
  })
}

function noticing({ reporter }: App): NoticePort {
  return {
    onNotice(notice) {
      const said = batchNoticeText(notice)
      if (said?.matters === true) reporter.warn(said.text)
      else if (said !== undefined) reporter.note(said.text)
    },
  }
}

/** Where a batch stands, with its results file where there is one; for scripts with what each row that was not sent matches. */
export async function standingView(app: App, batch: Batch, isJson: boolean): Promise<View> {
  const { batchStatusView } = await import('../output/views/batches.ts')
  const resultsFile = existsSync(batch.resultsFile ?? '') ? batch.resultsFile : undefined
  const { batches, files } = await app.services('batches', 'files')
  const stopped = isJson ? await stoppedRows({ batches, place: files }, batch) : []
  return batchStatusView(statusOf({ ...batch, resultsFile }), stopped)
}
