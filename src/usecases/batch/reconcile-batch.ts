import {
  type NearMatch,
  describeOutcome,
  sendableInMs,
  sendableText,
  answersHint,
  unknownDetails,
  type ProvidersAnswer,
  requireSendable,
  type Reconciliation,
} from '../../domain/batch/reconciliation.ts'
import { formatRow, type Batch, type BatchRow } from '../../domain/batch/batch.ts'
import { heldElsewhereError, stoppedQuestionsError } from '../../domain/batch/batch-status.ts'
import {
  RefcheckError,
  DuplicateError,
  InterruptedError,
  InvalidInputError,
  NotFoundError,
  OutcomeUnknownError,
  UsageError,
} from '../../errors/kinds.ts'
import { type RunOutcome, startBatch, type StartServices } from './start.ts'
import { reconcile, findReconcilableRows, findSecondOrders } from './reconcile.ts'
import { findLineOfRow, openFileOfBatch } from './read-file.ts'
import { rewriteResults } from './results-file.ts'
import {
  queueAgain,
  recordAnswer,
  requestIdProblem,
  requireDecidable,
  requireOrganisation,
} from './record-answer.ts'
import { findBatch, findRow } from './read-batch.ts'
import { readAttemptTime } from '../request/send.ts'
import { packageWithName } from '../../domain/submission/confirmation.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { capitalize, personWithEmail } from '../../domain/wording/text.ts'
import { localTime } from '../../domain/wording/time.ts'

/**
 * Reconciles unknown rows by requests of the service. `ids`: the requests to read; if undefined, the requests
 * that unmatched events name are read.
 */
export async function reconcileByEvidence(
  ports: StartServices,
  { batchId, ids }: { batchId: string | undefined; ids: readonly string[] | undefined },
): Promise<Reconciliation> {
  const { ledger, batches, inbox, clock } = ports
  const batch = batchId === undefined ? undefined : await findBatch(ports, batchId)
  await ledger.recover(clock.now())
  const reconcilableRows = await findReconcilableRows(ledger, batch?.id)
  const requestIds = ids ?? (await inbox.listUnmatchedIds(ports.api.baseUrl))
  const found = await reconcile(ports, reconcilableRows, requestIds)
  for (const reconciledBatchId of new Set(found.settled.map(({ submission }) => submission.batchId))) {
    const reconciled = await batches.find(reconciledBatchId)
    if (reconciled !== undefined) await rewriteResults(ports, reconciled)
  }
  return { ...found, ...(await findSecondOrders(ports, requestIds)) }
}

interface Decision {
  batchId: string
  row: number
  /** Undefined if refcheck has to ask the user for the answer. */
  answer: ProvidersAnswer | undefined
  reason: string | undefined
}

/**
 * Carries out the provider's answer about one row: records the request that the provider has, sends the row
 * again at once, or records that the row is never sent. `text` describes the outcome of the row.
 */
export async function reconcileByDecision(
  ports: StartServices,
  decision: Decision,
): Promise<RunOutcome & { text?: string }> {
  const { batches, prompter } = ports
  const batch = await findBatch(ports, decision.batchId)
  const row = await findRowWithLine(ports, batch, decision.row)
  if (row === undefined) {
    throw new UsageError(`row ${decision.row} is not in batch ${batch.id}`, {
      hint: `List the unknown rows with: refcheck batch rows ${batch.id} --state unknown`,
    })
  }
  requireDecidable(ports, batch, row, decision.answer)
  const answer = decision.answer ?? (await askAnswer(ports, prompter, row))
  if (answer !== undefined) {
    const end = await applyAnswer(ports, batch, row, answer, decision.reason)
    return { ...end, text: describeOutcome(row, await findRow(batches, batch.id, row.row)) }
  }
  const failure = new OutcomeUnknownError(`the order of ${formatRow(row)} is still not settled`, {
    hint: answersHint(row, row.recipient?.email),
    order: { batchId: batch.id, row: row.row },
  })
  return { batch, failure }
}

export interface DecideUnknownServices extends StartServices {
  prompter: Prompter
  /** Shows the facts for a question, or the outcome of an answer. */
  onLines: (lines: readonly string[]) => void
}

/**
 * Asks for the provider's answer about each row that is still unknown, one after another, and carries out each
 * answer. Returns the rows that remain. Throws an InterruptedError if the user leaves; answers given before are
 * recorded.
 */
export async function decideUnknownRows(
  ports: DecideUnknownServices,
  found: Reconciliation,
): Promise<Reconciliation> {
  const nearMatches = new Map(found.ambiguous.map((each) => [each.submission, each.nearMatches]))
  const unknownRows = [...nearMatches.keys(), ...found.open].filter(({ state }) => state === 'unknown')
  const decided = new Set<Submission>()
  for (const [index, submission] of unknownRows.entries()) {
    const position = `${index + 1} of ${unknownRows.length}`
    try {
      if (await decideUnknownRow(ports, submission, nearMatches.get(submission) ?? [], position))
        decided.add(submission)
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error
      throw stoppedQuestionsError(decided.size, `refcheck batch reconcile ${submission.batchId}`)
    }
  }
  return {
    ...found,
    askedRowCount: unknownRows.length,
    open: found.open.filter((each) => !decided.has(each)),
    ambiguous: found.ambiguous.filter(({ submission }) => !decided.has(submission)),
  }
}

/** Asks until an answer was carried out or is postponed. Returns true if the row is no longer unknown. */
async function decideUnknownRow(
  ports: DecideUnknownServices,
  submission: Submission,
  nearMatches: readonly NearMatch[],
  position: string,
): Promise<boolean> {
  const { batches, prompter, onLines } = ports
  const number = submission.row
  for (let isShown = false; ; isShown = true) {
    const batch = await findBatch(ports, submission.batchId)
    const row = await findRowWithLine(ports, batch, number)
    if (row?.state !== 'unknown') return true
    try {
      if (!isShown) {
        requireDecidable(ports, batch, row)
        const rowText = formatRow(row) + (batch.kind === 'file' ? ` of ${batch.name}` : '')
        const details = unknownDetails(nearMatches, await findSendableTime(ports, row))
        onLines([`${rowText} may have been ordered (${position})`, ...details])
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      onLines(failureLines(error))
      return false
    }
    try {
      const answer = await askAnswer(ports, prompter, row)
      if (answer === undefined) return false
      const { failure } = await applyAnswer(ports, batch, row, answer, undefined)
      const rowAfter = await findRow(batches, batch.id, number)
      onLines([describeOutcome(row, rowAfter), ...(failure === undefined ? [] : failureLines(failure))])
      return rowAfter?.state !== 'unknown'
    } catch (error) {
      const canAskAgain =
        error instanceof UsageError ||
        error instanceof InvalidInputError ||
        error instanceof NotFoundError ||
        error instanceof DuplicateError
      if (!canAskAgain) throw error
      onLines(failureLines(error))
    }
  }
}

/** Returns a row with its line, which messages about the row name. */
async function findRowWithLine(
  { batches, files }: Pick<StartServices, 'batches' | 'files'>,
  batch: Batch,
  number: number,
): Promise<BatchRow | undefined> {
  const row = await findRow(batches, batch.id, number)
  return row && { ...row, line: await findLineOfRow(await openFileOfBatch(files, batch), number) }
}

/** Returns the time from which a row may be sent again; undefined if it may be sent now. */
async function findSendableTime(
  services: Pick<StartServices, 'clock' | 'ledger'>,
  row: BatchRow,
): Promise<number | undefined> {
  const waitMs = sendableInMs(row, await readAttemptTime(services))
  return waitMs > 0 ? services.clock.now() + waitMs : undefined
}

const failureLines = ({ message, hint }: RefcheckError): string[] => {
  const sentence = capitalize(message)
  return hint === undefined ? [sentence] : [sentence, ...hint.split('\n')]
}

/** Carries out the provider's answer about a row. */
async function applyAnswer(
  ports: StartServices,
  batch: Batch,
  row: BatchRow,
  answer: ProvidersAnswer,
  reason: string | undefined,
): Promise<RunOutcome> {
  if (answer.kind === 'order') return orderAgain(ports, batch, row, answer.confirmedEmail, reason)
  await recordAnswer(ports, batch, row, answer, reason)
  const reconciled = await findBatch(ports, batch.id)
  await rewriteResults(ports, reconciled)
  return { batch: reconciled, failure: undefined }
}

async function orderAgain(
  ports: StartServices,
  batch: Batch,
  row: BatchRow,
  typedEmail: string | undefined,
  reason: string | undefined,
): Promise<RunOutcome> {
  requireSendable(row, await readAttemptTime(ports))
  await requireOrganisation(ports, batch)
  const confirmedEmail = typedEmail ?? (await askEmail(ports, row))
  const lease = await ports.ledger.acquire(batch)
  if (lease === undefined) throw heldElsewhereError(batch)
  try {
    await queueAgain(ports, row, confirmedEmail, reason ?? 'a person decided to send it again')
  } finally {
    // The run of a file acquires the lease itself; the run of a single order below uses this one.
    if (batch.kind === 'file' || row.recipient === undefined) await lease.release()
  }
  if (row.recipient === undefined) {
    const closedBatch = await findBatch(ports, batch.id)
    await rewriteResults(ports, closedBatch)
    return { batch: closedBatch, failure: undefined }
  }
  return startBatch(ports, batch.id, {
    onlyRow: row.row,
    lease: batch.kind === 'single' ? lease : undefined,
    isOrganisationChecked: true,
  })
}

async function askEmail({ prompter, onBatchEvent }: StartServices, row: BatchRow): Promise<string> {
  const rowText = formatRow(row)
  if (prompter === undefined) {
    throw new UsageError('there is no terminal to confirm the recipient’s e-mail on', {
      hint: 'Nothing was done. Run it again with --confirm-email EMAIL.',
    })
  }
  if (row.recipient === undefined) {
    return prompter.text({ message: `Type the e-mail of ${rowText}’s recipient to close the row:` })
  }
  onBatchEvent({ name: 'may-order-again', who: rowText })
  return prompter.text({ message: `Type the e-mail of ${rowText} to order again:` })
}

/** Asks for the provider's answer about the person of a row; undefined if the user does not know it yet. */
async function askAnswer(
  ports: Pick<StartServices, 'packageNames' | 'clock' | 'ledger'>,
  prompter: Prompter | undefined,
  row: BatchRow,
): Promise<ProvidersAnswer | undefined> {
  const { recipient, packageId } = row
  if (prompter === undefined) {
    throw new UsageError(`what the provider said of ${formatRow(row)} is missing`, {
      hint: answersHint(row, recipient?.email),
    })
  }
  const personText =
    recipient === undefined ? 'the person of this row (removed from this store)' : personWithEmail(recipient)
  const sentAt = row.attemptedAt === undefined ? '' : `, sent ${localTime(row.attemptedAt)}`
  const names = await ports.packageNames.get(row)
  const sendableTime = await findSendableTime(ports, row)
  const packageText = packageWithName({ id: packageId ?? 0, name: names.get(packageId ?? 0) })
  const kind = await prompter.select<ProvidersAnswer['kind'] | 'later'>({
    message: `Does the provider have a request for ${personText}, ${packageText}${sentAt}?`,
    choices: [
      { value: 'later', label: 'I do not know yet', detail: 'Nothing is done.' },
      { value: 'has', label: 'They have it', detail: 'Its id is asked for, read once and recorded.' },
      {
        value: 'order',
        label: `They do not have it: ${recipient === undefined ? 'close the row' : 'order it'}`,
        detail:
          recipient === undefined
            ? 'Nothing is sent; the person can then be ordered.'
            : sendableTime === undefined
              ? 'This is a new order, sent at once.'
              : `This is a new order, possible from ${sendableText(sendableTime)}.`,
      },
      { value: 'leave', label: 'Nobody knows: never send it', detail: 'The same order stays refused.' },
    ],
  })
  switch (kind) {
    case 'later':
      return undefined
    case 'leave':
      return { kind }
    case 'order':
      return { kind, confirmedEmail: undefined }
    case 'has': {
      return {
        kind,
        requestId: await prompter.text({ message: 'Id of their request:', check: requestIdProblem }),
      }
    }
  }
}
