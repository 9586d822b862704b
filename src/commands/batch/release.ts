import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { batchArgs } from '../../cli/flags/values.ts'
import { perhapsOrderedError } from '../../domain/batch/held-question.ts'
import { sharedKey } from '../../domain/submission/identity.ts'
import type { Release } from '../../domain/submission/conflicts.ts'
import { formatCount } from '../../domain/wording/text.ts'
import {
  createHeldRowPrompt,
  nothingReleasedText,
  releasedPeopleText,
  updateResultsFile,
  statusWithPackage,
  warnOfLostAttempts,
} from '../../app/batch.ts'
import { batchStatusView } from '../../output/views/batches.ts'
import { releaseRows } from '../../usecases/batch/change-batch.ts'
import { findBatch, findBatchToRun, listHeld } from '../../usecases/batch/read-batch.ts'
import type { Batch } from '../../domain/batch/batch.ts'

export default class BatchRelease extends BaseCommand<typeof BatchRelease> {
  static override summary = 'Release held rows, so that they may be ordered'
  static override description =
    'A row is held if somebody similar was ordered before, or is in an earlier row: it may be one person or two, and only you can tell. Released rows are sent by "refcheck batch resume". On a terminal, without a flag, each held row is asked about. A release covers what the row matches now; a new match holds it again. Rows held by a restored backup may have been ordered: --all asks about them on a terminal, and elsewhere leaves them held and ends with 10; --row N releases one. If a row is the same person, cancel it with "refcheck batch cancel BATCH_ID --row N".'
  static override examples = [
    'refcheck batch release 3f2b8c1e --row 12',
    'refcheck batch release 3f2b8c1e --shared office@agency.example',
    'refcheck batch release 3f2b8c1e --all',
  ]
  static override args = batchArgs
  static override flags = {
    row: Flags.integer({
      summary: 'Release this row; repeatable',
      helpValue: 'N',
      multiple: true,
      min: 1,
      exclusive: ['shared', 'all'],
    }),
    shared: Flags.string({
      summary: 'Release rows that share only this e-mail or phone, not the full name',
      helpValue: 'VALUE',
      exclusive: ['all'],
    }),
    all: Flags.boolean({
      summary: 'Release all rows held as similar; asks about those of a restored backup',
    }),
  }

  async run(): Promise<void> {
    const { app } = this
    const { row, shared, all, json } = this.flags
    const shouldAsk =
      row === undefined && shared === undefined && !all && !json && app.prompter() !== undefined
    let release = shouldAsk ? undefined : this.parseRelease()
    // Throws if the account in use was not added to the store.
    await app.service('account')
    const services = await app.batchServices()
    const { counts: countsBefore } = await findBatch(services, this.args.batch_id)
    // Compares the held rows again.
    const batch = await findBatchToRun(services, this.args.batch_id)
    if (release?.kind === 'all' && (await this.confirmLostAttempts(batch)))
      release = { kind: 'all', includesLostAttempts: true }
    const { userEmail } = await app.service('api')
    const askAboutRows = release === undefined ? await createHeldRowPrompt(app, this.signal) : undefined
    const answers = await askAboutRows?.(batch, 'release')
    const releasedRows =
      release === undefined ? undefined : (await releaseRows(services, batch, release, userEmail)).rows
    const releasedCount = releasedRows?.length ?? answers?.released ?? 0
    const leftOutCount = answers?.cancelled ?? 0
    const recordedCount = answers?.recorded ?? 0
    const readStatus = async () =>
      batchStatusView(await statusWithPackage(app, (await services.batches.find(batch.id)) ?? batch))
    if (releasedCount + recordedCount + leftOutCount > 0) await updateResultsFile(app, batch)
    if (leftOutCount > 0) {
      const personText = leftOutCount === 1 ? answers?.lastCancelled : undefined
      app.reporter.note(
        `Left out ${personText ?? formatCount(leftOutCount, 'row')}; nothing is ordered for ${leftOutCount === 1 ? 'this row' : 'these rows'}.`,
      )
    }
    if (recordedCount + leftOutCount > 0 && releasedCount === 0) return this.answer(await readStatus())
    // Rows whose people may have been ordered are released one by one only, and no question releases some of them.
    const failure =
      release?.kind === 'all' || (answers !== undefined && answers.unasked > 0)
        ? perhapsOrderedError(await listHeld(await app.services('batches', 'files'), batch))
        : undefined
    const people = releasedRows === undefined ? '' : await releasedPeopleText(app, batch, releasedRows)
    if (releasedCount > 0 || failure === undefined)
      app.reporter.note(
        releasedCount === 0
          ? nothingReleasedText(countsBefore, batch, release === undefined)
          : `Released ${formatCount(releasedCount, 'row')}${people}. Order with: refcheck batch resume ${batch.id}`,
      )
    this.answer(await readStatus(), failure)
  }

  /**
   * Asks on a terminal about rows that are held because the store had lost attempts (a backup was restored): they may
   * have been ordered. Returns whether they are released as well. Without a terminal, and with --json, they stay held.
   */
  private async confirmLostAttempts(batch: Batch): Promise<boolean> {
    const { app } = this
    if (this.flags.json || app.prompter() === undefined) return false
    const count = await warnOfLostAttempts(app, batch)
    if (count === 0) return false
    await this.confirm(`Release ${count === 1 ? 'this row' : 'these rows'} all the same?`, false)
    return true
  }

  private parseRelease(): Release {
    const { row, shared, all } = this.flags
    if (row !== undefined) return { kind: 'rows', rows: row }
    if (shared !== undefined) return { kind: 'shared', value: sharedKey(shared) }
    this.refuseIf(!all, 'no rows were named', 'Give --row N, --shared VALUE or --all.')
    return { kind: 'all' }
  }
}
