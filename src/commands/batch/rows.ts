import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { listFlags, parseRowStates } from '../../cli/flags/list.ts'
import { heldText, toListedRow } from '../../domain/batch/batch-status.ts'
import { hintForHeldRows } from '../../domain/batch/held-question.ts'
import { hintToReconcile, orderInvalidHint } from '../../domain/batch/verdict.ts'
import { personName } from '../../domain/wording/text.ts'
import { batchRowsView } from '../../output/views/batches.ts'
import {
  findBatch,
  listHeld,
  orderedTexts,
  readInvalidRows,
  readOrdersMeanwhile,
  readRows,
} from '../../usecases/batch/read-batch.ts'
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
    const orderTexts = orderedTexts(rows, isText ? await readOrdersMeanwhile(services, batch) : new Map())
    const heldRows = (showsHeld ? await listHeld(services, batch) : []).filter(
      ({ held }) => !orderTexts.has(held.row),
    )
    const heldTexts = heldRows.map(({ held, other }) => [held.row, heldText(held, other)] as const)
    const reasons = new Map([...heldTexts, ...orderTexts])
    const isForPerson = this.context.streams.stdout.isTTY && isText
    const names = isForPerson ? new Map(rows.map(({ row, person }) => [row, personName(person)])) : undefined
    const listedRows = rows.map((row) => toListedRow(row, row.line))
    const rowsWithReasons = await addListedReasons(listedRows, inbox, () => batch.baseUrl)
    const emptyText = `No row of ${batch.name}${states === undefined ? '' : ` is ${states.join(' or ')}`}.`
    this.answerList(batchRowsView(rowsWithReasons, reasons, names, emptyText))
    const unknownCount = isText ? rows.filter(({ state }) => state === 'unknown').length : 0
    if (unknownCount > 0) this.app.reporter.note(hintToReconcile(batch.id, unknownCount))
    if (
      isText &&
      rows.some(
        ({ row, state, matches }) => state === 'rejected' && matches === undefined && !orderTexts.has(row),
      )
    )
      this.app.reporter.note(
        `If the cause is gone, make rejected rows pending again with: refcheck batch retry ${batch.id}`,
      )
    const hasInvalid = isText && rows.some(({ state }) => state === 'invalid')
    if (hasInvalid && (await readInvalidRows(services, batch)).length > 0)
      this.app.reporter.note(orderInvalidHint)
    if (heldRows.length > 0)
      this.app.reporter.note(hintForHeldRows(heldRows, this.app.prompter() !== undefined))
  }
}
