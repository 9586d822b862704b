import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { listFlags, parseRowStates } from '../../cli/flags/list.ts'
import { heldText, toListedRow } from '../../domain/batch/batch-status.ts'
import { hintForHeldRows } from '../../domain/batch/held-question.ts'
import { hintToReconcile, orderInvalidHint, orderRejectedHint } from '../../domain/batch/verdict.ts'
import { personName } from '../../domain/wording/text.ts'
import { batchRowsView } from '../../output/views/batches.ts'
import { findBatch, listHeld, readOrdersOfWaiting, readRows } from '../../usecases/batch/read-batch.ts'
import { addListedReasons } from '../../usecases/request/read-requests.ts'

export default class BatchRows extends BaseCommand<typeof BatchRows> {
  static override summary = 'List the rows of a batch and their states'
  static override description =
    'ROW counts the people of the file from 1, as --row takes it; LINE is where the spreadsheet program shows them, as long as the file is as it was. States: pending, sending, accepted, rejected, unknown, duplicate, held, invalid, cancelled, dropped (see: refcheck help batches). The last column says why a row was not accepted, and of a held row whom it may be.'
  static override examples = [
    'refcheck batch rows 3f2b8c1e',
    'refcheck batch rows 3f2b8c1e --state rejected,invalid --csv',
  ]
  static override args = batchArgs
  static override flags = {
    state: Flags.string({
      summary: 'Only rows in these states, such as rejected,unknown',
      helpValue: 'STATE',
    }),
    ...listFlags,
  }

  async run(): Promise<void> {
    const states = parseRowStates(this.flags.state)
    const services = await this.app.services('batches', 'heldRows', 'ledger', 'clock', 'files')
    const batch = await findBatch(services, this.args.batch_id)
    const inbox = await this.app.service('redactedInbox')
    const rows = await readRows(services, batch, states)
    const isText = !this.flags.json && !this.flags.csv
    const showsHeld = isText && rows.some(({ state }) => state === 'held')
    const heldRows = showsHeld ? await listHeld(services, batch) : []
    const laterOrders = isText ? await readOrdersOfWaiting(services, batch) : undefined
    const openHeldRows = heldRows.filter(({ held }) => laterOrders?.has(held.row) !== true)
    const reasons = new Map(openHeldRows.map(({ held, other }) => [held.row, heldText(held, other)]))
    for (const row of rows) {
      const matches = laterOrders?.get(row.row)?.match
      if (matches !== undefined) reasons.set(row.row, heldText({ ...row, matches }, undefined))
    }
    const isForPerson = this.context.streams.stdout.isTTY && isText
    const names = isForPerson ? new Map(rows.map(({ row, person }) => [row, personName(person)])) : undefined
    const listedRows = rows.map((row) => toListedRow(row, row.line))
    const rowsWithReasons = await addListedReasons(listedRows, inbox, () => batch.baseUrl)
    const emptyText = `No row of ${batch.name}${states === undefined ? '' : ` is ${states.join(' or ')}`}.`
    this.answerList(batchRowsView(rowsWithReasons, reasons, names, emptyText))
    const pendingRows = rows.filter(({ state }) => state === 'pending')
    const canCancel = batch.counts.held === 0 && pendingRows.length === batch.counts.pending
    if (isText && pendingRows.length > 0 && canCancel && pendingRows.every(({ row }) => reasons.has(row)))
      this.app.reporter.note(
        `The people of the pending rows are ordered. Cancel these rows with: refcheck batch cancel ${batch.id}`,
      )
    const unknownCount = isText ? rows.filter(({ state }) => state === 'unknown').length : 0
    if (unknownCount > 0) this.app.reporter.note(hintToReconcile(batch.id, unknownCount))
    if (isText && rows.some(({ state, matches }) => state === 'rejected' && matches === undefined))
      this.app.reporter.note(orderRejectedHint(batch.id))
    if (isText && rows.some(({ state, matches }) => state === 'invalid' && matches?.laterBatch === undefined))
      this.app.reporter.note(orderInvalidHint)
    if (openHeldRows.length > 0)
      this.app.reporter.note(hintForHeldRows(openHeldRows, this.app.prompter() !== undefined))
  }
}
