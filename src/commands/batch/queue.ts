import { queueBatch } from '../../usecases/batch/change-batch.ts'
import { listHeld } from '../../usecases/batch/read-batch.ts'
import { hintForHeldRows } from '../../domain/batch/held-question.ts'
import { hintToReconcile } from '../../domain/batch/verdict.ts'
import { formatCount } from '../../domain/wording/text.ts'
import type { BatchFile } from '../../usecases/batch/read-file.ts'
import { batchView } from '../../app/batch.ts'
import BatchRun from './run.ts'

const { max: _max, timeout: _timeout, ...flags } = BatchRun.flags

export default class BatchQueue extends BatchRun {
  static override summary = 'Queue a file of people for a worker to order'
  static override description =
    'Checks every row, shows the plan and asks for confirmation, as "refcheck batch run" does, but sends nothing: a running "refcheck worker" orders the rows. A batch that somebody runs or resumes by hand is no longer the worker’s.'
  static override examples = [
    'refcheck batch queue people.csv --package 102',
    'refcheck batch queue --plan plan.json --yes --json',
  ]
  static override flags = flags as typeof BatchRun.flags

  /** The question of `batch run` says that people are ordered; here a worker orders them later. */
  protected override confirm(question: string, yes: boolean): Promise<void> {
    return super.confirm(question.replace(/^Order /, 'Queue orders of '), yes)
  }

  protected override async continueBatch(batchId: string, _: BatchFile): Promise<void> {
    const batch = await queueBatch(await this.app.batchServices(), batchId)
    if (batch.counts.pending > 0) {
      this.app.reporter.note('Nothing was sent yet. A running "refcheck worker" orders the rows.')
    }
    const { held, unknown } = batch.counts
    if (unknown > 0)
      this.app.reporter.note(
        `${formatCount(unknown, 'row')} may or may not have been ordered. ${hintToReconcile(batch.id, unknown)}`,
      )
    if (held > 0) {
      const heldRows = await listHeld(await this.app.services('batches', 'files'), batch)
      const hint = hintForHeldRows(heldRows, this.app.prompter() !== undefined)
      // The line about unknown rows may name that command already.
      if (unknown === 0 || !hint.endsWith(`reconcile ${batch.id}`)) this.app.reporter.note(hint)
    }
    this.answer(await batchView(this.app, batch, false))
  }
}
