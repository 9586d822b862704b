import type { App } from './app.ts'
import type { RefcheckError } from '../errors/kinds.ts'
import { maxNamed, orderQuestion } from '../domain/submission/confirmation.ts'
import { type BatchStatus, statusOf } from '../domain/batch/batch-status.ts'
import { markPostponedAsUserChoice, orderInvalidHint } from '../domain/batch/verdict.ts'
import { formatCount, joinFirst } from '../domain/wording/text.ts'
import { continuedBatchText, batchEventText } from '../output/views/batches.ts'
import type { OrderFileServices, OrderFilePrompts } from '../usecases/batch/order-file.ts'
import type { BatchEnd, StartOptions, StartServices } from '../usecases/batch/start.ts'
import type { BatchEvent } from '../domain/batch/run-policy.ts'
import { createOrderServices, pauseNote } from './request.ts'
import type { DefaultSources } from '../usecases/batch/read-file.ts'
import { formatRow, type Batch, type BatchCounts, type BatchRow } from '../domain/batch/batch.ts'
import type { View } from '../output/view.ts'
import { sanitize } from '../host/text.ts'

/** Returns the sources of default values for reading a file. */
export async function readingDefaults(app: App): Promise<DefaultSources> {
  return { ...(await app.services('mappings')), readSetting: (key) => app.setting(key) }
}

/** Returns the services for reading, checking and planning a file. */
export async function createPlanServices(app: App): Promise<OrderFileServices> {
  return {
    ...(await app.services('api', 'schemas', 'mappings', 'prompter', 'clock', 'random', 'files')),
    packageSetting: await app.packageSetting(),
    ...(await app.services('batches', 'ledger', 'heldRows', 'account', 'governor', 'packageNames')),
    onBatchEvent: createEventReporter(app),
  }
}

/** Returns the services for running, resuming and reconciling batches. */
export async function createStartServices(app: App, signal: AbortSignal): Promise<StartServices> {
  const { onEvent: _, ...ordering } = await createOrderServices(app, signal)
  const services = await app.services('batches', 'heldRows', 'inbox', 'unmatched', 'governor', 'schemas')
  const { governor } = services
  const { createBatchMeter } = await import('../output/views/progress.ts')
  // Updates the recorded calls of other processes, which the remaining time depends on.
  await governor.status()
  return {
    ...ordering,
    ...services,
    ...(await app.services('files', 'prompter', 'packageNames')),
    onQuotaWait: pauseNote(app),
    onBatchEvent: createEventReporter(app),
    progress: await createBatchMeter({
      clock: app.context.clock,
      secondsFor: (creates, callMs) => governor.secondsFor(creates, callMs),
      progress: app.progress(),
      note: app.note,
    }),
    waitBudgetMs: app.options.timeoutMs ?? Number.POSITIVE_INFINITY,
  }
}

/**
 * Returns a function that creates the prompts for a file of this name: they show its plan and ask for confirmation.
 * `confirm` throws if the user declines.
 */
export function orderPrompts(
  app: App,
  {
    quiet,
    yes,
    showChanges,
    max,
  }: { quiet: boolean; yes: boolean; showChanges: boolean; max?: number | undefined },
  confirm: (question: string) => Promise<void>,
): (name: string) => OrderFilePrompts {
  const { reporter } = app
  return (name) => ({
    isConfirmed: yes,
    onKnown: (batch) => reporter.note(continuedBatchText(statusOf(batch), name)),
    async onPlan(plan) {
      const { planText, improbableValuesWarning } = await import('../output/views/batch-check.ts')
      if (!quiet || !yes) {
        return reporter.printBlock(planText(plan, name, reporter.terminal, showChanges))
      }
      const warning = improbableValuesWarning(plan, name)
      if (warning !== undefined) reporter.warn(warning)
    },
    confirm: async (orders) => confirm(orderQuestion({ ...orders, max }, await app.service('api'))),
  })
}

function createEventReporter({ reporter }: App): (event: BatchEvent) => void {
  return (event) => {
    const text = batchEventText(event)
    if (text?.isWarning === true) reporter.warn(text.text)
    else if (text !== undefined) reporter.note(text.text)
  }
}

/** Runs a batch, and asks about its held rows at the end. Returns the output, and the error of the run. */
export async function runBatch(
  app: App,
  signal: AbortSignal,
  batchId: string,
  { isJson, ...options }: StartOptions & { isJson: boolean },
): Promise<[View, RefcheckError | undefined]> {
  const { startBatch } = await import('../usecases/batch/start.ts')
  const services = await createStartServices(app, signal)
  // Loaded before the run, because an upgrade may replace the program's files during the run.
  const askAboutHeldRows = isJson ? undefined : await createHeldRowPrompt(app, signal)
  let end = await startBatch(services, batchId, options)
  const { maxOrders = Number.POSITIVE_INFINITY } = options
  const { orderedInThisRun } = end.result
  if (askAboutHeldRows !== undefined && needsDecisions(end) && maxOrders > orderedInThisRun) {
    const answers = await askAboutHeldRows(end.batch, 'order')
    if (answers !== undefined && answers.released + answers.recorded + answers.cancelled > 0) {
      const before = end.result.people
      end = await startBatch(services, batchId, {
        ...options,
        isPlanned: false,
        maxOrders: maxOrders - orderedInThisRun,
      })
      const people = [...before, ...end.result.people]
      const total = orderedInThisRun + end.result.orderedInThisRun
      // The people are listed only if the list names everybody who was ordered.
      end.result = { ...end.result, orderedInThisRun: total, people: people.length === total ? people : [] }
    }
    const { counts, earlierOrders } = end.result
    // If the user postponed all held rows, they are no failure.
    if (answers?.postponed === counts.held && counts.held > 0)
      end = { ...end, failure: markPostponedAsUserChoice(end.failure, counts, earlierOrders) }
  }
  return [await endedView(app, end, isJson, options.file?.name), end.failure]
}

/** Writes the rows of a batch that were changed without a run to its results file. */
export async function updateResultsFile(app: App, batch: Batch): Promise<void> {
  const { updateResults } = await import('../usecases/batch/results-file.ts')
  await updateResults(
    { ...(await app.services('batches', 'files')), onBatchEvent: createEventReporter(app) },
    batch,
  )
}

/**
 * Writes the results file of a finished batch again if the people of rejected, cancelled or invalid rows are ordered
 * meanwhile, by other files or commands.
 */
async function updateResultsOfLaterOrders(app: App, batch: Batch): Promise<void> {
  const states = ['rejected', 'cancelled', 'invalid'] as const
  if (states.every((state) => batch.counts[state] === 0)) return
  const batches = await app.service('batches')
  for await (const { matches } of batches.rows(batch.id, { states }))
    if (matches?.laterBatch !== undefined) return updateResultsFile(app, batch)
}

/** Whether the batch waits only for answers about held rows. */
function needsDecisions({ batch: { counts, halt }, failure }: BatchEnd): boolean {
  const isOpen = failure?.code === 'incomplete' || failure?.code === 'outcome_unknown'
  return counts.held > 0 && counts.pending === 0 && halt === undefined && isOpen
}

/** Returns a function that asks about each held row as `decideHeldRows` does; undefined without a terminal. */
export async function createHeldRowPrompt(app: App, signal: AbortSignal) {
  const prompter = app.prompter()
  if (prompter === undefined) return undefined
  const { decideHeldRows } = await import('../usecases/batch/change-batch.ts')
  return async (batch: Batch, verb: 'order' | 'release') => {
    const services = await app.services(
      'batches',
      'heldRows',
      'ledger',
      'clock',
      'api',
      'files',
      'packageNames',
      'governor',
      'random',
      'account',
    )
    const answers = await decideHeldRows(
      { ...services, signal, prompter, onQuestion: showLines(app), onQuotaWait: pauseNote(app) },
      batch,
      verb,
    )
    for (const other of answers.otherBatches) await updateResultsFile(app, other)
    return answers
  }
}

/** Returns why no row was released. `before`: the counts before the held rows were compared again. */
export function nothingReleasedText(before: BatchCounts, { id, counts }: Batch, wasAsked: boolean): string {
  const freedCount = counts.pending - before.pending
  if (freedCount > 0)
    return `${formatCount(freedCount, 'row is', 'rows are')} not held any more: the other order is gone. Order with: refcheck batch resume ${id}`
  const repeatCount = counts.duplicate - before.duplicate
  if (repeatCount > 0)
    return `${formatCount(repeatCount, 'row is', 'rows are')} not held any more: the same order exists. See it with: refcheck batch rows ${id} --state duplicate`
  if (!wasAsked) return 'No held row matches; nothing was released.'
  return `No row was released.${counts.held === 0 ? '' : ` Decide later with: refcheck batch release ${id}`}`
}

/** Warns of rows that may have been ordered, because the store had lost attempts. Returns the number of rows. */
export async function warnOfLostAttempts(app: App, batch: Batch): Promise<number> {
  const { findRowsOfLostAttempts } = await import('../usecases/batch/read-batch.ts')
  const { count, people } = await findRowsOfLostAttempts(await app.services('batches', 'files'), batch)
  if (count > 0) {
    app.reporter.warn(
      `${formatCount(count, 'row')} of ${batch.name} may have been ordered, because this store had lost attempts: ${sanitize(people)}. ` +
        `Releasing a row whose person was ordered orders that person twice. To decide about each row: refcheck batch release ${batch.id}`,
    )
  }
  return count
}

/** Returns the first people of rows that were released, after a colon; '' if there are none. */
export async function releasedPeopleText(app: App, batch: Batch, rows: readonly number[]): Promise<string> {
  if (rows.length === 0) return ''
  const { describeWaitingRows } = await import('../usecases/batch/read-batch.ts')
  const { people } = await describeWaitingRows(await app.services('batches', 'files'), batch, rows)
  return `: ${sanitize(people)}`
}

/** Returns a function that shows lines about people, whose names are sanitized. */
export function showLines({ reporter }: App): (lines: readonly string[]) => void {
  return (lines) => reporter.printBlock(lines.map((line) => sanitize(line, { keepsLayout: true })).join('\n'))
}

/** Returns the output at the end of a run of a batch. `fileName`: the name of the file of this run. */
export async function endedView(
  app: App,
  end: BatchEnd,
  isJson: boolean,
  fileName = end.batch.name,
): Promise<View> {
  const view = await createResultView(app, end, isJson, fileName)
  if (end.batch.counts.invalid === 0 || isJson) return view
  const { readInvalidRows } = await import('../usecases/batch/read-batch.ts')
  const invalidRows = await readInvalidRows(await app.services('batches', 'files'), end.batch)
  if (invalidRows.length === 0) return view
  const names = joinFirst(invalidRows.map(formatRow), maxNamed)
  const invalidText = `Not ordered, because invalid: ${sanitize(names)}\n${orderInvalidHint}`
  return { ...view, text: (terminal) => `${view.text(terminal)}\n\n${invalidText}` }
}

async function createResultView(
  app: App,
  { batch, failure, result }: BatchEnd,
  isJson: boolean,
  fileName: string,
): Promise<View> {
  const { batchResultView, resultText } = await import('../output/views/batches.ts')
  const status = await batchView(app, withoutRepeatedHint(batch, failure), isJson, {
    unread: result.unreadCount,
  })
  const { readFailedPeople } = await import('../usecases/batch/read-batch.ts')
  const { CANCELLED: cancelled = 0, ERROR: inError = 0 } = result.earlierOrders.failedByStatus
  const failedPeople =
    cancelled + inError === 0
      ? []
      : await readFailedPeople(await app.services('batches', 'ledger', 'files'), batch)
  const text = resultText(fileName, result, failure, failedPeople)
  const isAnyoneOrdered = batch.counts.accepted + result.earlierOrders.count > 0
  const { pending, held } = batch.counts
  if (failure !== undefined && (!failure.isUserChoice || pending > 0 || (held === 0 && !isAnyoneOrdered)))
    return batchResultView(status, text, undefined, failedPeople)
  if (failure !== undefined && held > 0)
    return batchResultView(status, text, `refcheck batch release ${batch.id}`, failedPeople)
  const { failedRequestsCommand } = await import('../output/views/attention.ts')
  const notOrderedAgain = failedPeople.filter(({ isOrderedAgain }) => !isOrderedAgain)
  if (notOrderedAgain.length > 0)
    return batchResultView(status, text, failedRequestsCommand(notOrderedAgain), failedPeople)
  // No report is ready seconds after the order.
  if (result.orderedInThisRun > 0)
    return batchResultView(status, text, `refcheck request wait --batch ${batch.id}`)
  const isFolderKnown = (await app.setting('output-dir')) !== undefined || app.prompter() !== undefined
  return batchResultView(status, text, `refcheck report sync${isFolderKnown ? '' : ' --output reports'}`)
}

/** Returns the output for a batch whose people were all ordered before this run. */
export async function finishedView(
  app: App,
  end: BatchEnd,
  isJson: boolean,
  fileName: string,
): Promise<View> {
  await updateResultsOfLaterOrders(app, end.batch)
  return endedView(app, end, isJson, fileName)
}

/** Returns the batch without the hint of its halt if the error that is printed below its status has the same hint. */
export function withoutRepeatedHint(batch: Batch, failure: RefcheckError | undefined): Batch {
  const { halt } = batch
  if (halt?.hint === undefined || failure?.hint?.includes(halt.hint) !== true) return batch
  return { ...batch, halt: { ...halt, hint: undefined } }
}

/**
 * Returns the status of a batch, with its results file if there is one. For scripts it includes the conflict of each
 * row that was not sent; `previewed`: these rows of a dry run.
 */
export async function batchView(
  app: App,
  batch: Batch,
  isJson: boolean,
  { previewed, unread }: { previewed?: readonly BatchRow[] | undefined; unread?: number | undefined } = {},
): Promise<View> {
  const { batchStatusView } = await import('../output/views/batches.ts')
  const { listStoppedRows } = await import('../usecases/batch/read-batch.ts')
  const services = await app.services('batches', 'files')
  const rowsNotSent = isJson ? await listStoppedRows(services, batch, previewed) : []
  return batchStatusView(await statusWithPackage(app, batch), rowsNotSent, unread)
}

/**
 * Returns the status of a batch with the name of its package, if that is known from an earlier list of packages, and with
 * the numbers of its rows whose people are ordered otherwise, and of its rows ordered under other
 * packages. The results file is named only if it has the rows of the batch.
 */
export async function statusWithPackage(app: App, storedBatch: Batch): Promise<BatchStatus> {
  const [{ readOrderedElsewhere }, { findResultsFile }] = await Promise.all([
    import('../usecases/batch/read-batch.ts'),
    import('../usecases/batch/results-file.ts'),
  ])
  const batch = {
    ...storedBatch,
    resultsFile: await findResultsFile(await app.service('batches'), storedBatch),
  }
  const elsewhere = await readOrderedElsewhere(await app.services('batches', 'heldRows'), batch)
  if (batch.packageId === undefined) return statusOf(batch, undefined, elsewhere)
  const { heldRows, packageNames } = await app.services('heldRows', 'packageNames')
  const earlierPackages = await heldRows.countUnderOtherPackages(batch.id, batch.packageId)
  return statusOf(batch, (await packageNames.get(batch)).get(batch.packageId), elsewhere, earlierPackages)
}
