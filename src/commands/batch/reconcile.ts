import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/duration.ts'
import { batchIdArg } from '../../cli/flags/identifiers.ts'
import { Flags } from '../../cli/oclif.ts'
import { batchStartPorts } from '../../compose/batch.ts'
import { readInput } from '../../compose/input.ts'
import { requestIdsIn } from '../../domain/batch/events-file.ts'
import { unsettled } from '../../domain/batch/proof.ts'
import { statusOf } from '../../domain/batch/standing.ts'
import { batchStatusView, reconciledView } from '../../output/views/batches.ts'
import { reconcileFrom, settleManually } from '../../usecases/batch/settle.ts'

export default class BatchReconcile extends BaseCommand<typeof BatchReconcile> {
  static override summary = 'Settle rows that may or may not have been ordered.'
  static override description = [
    'Reads the requests that webhook events told of and that no order of this store holds, and takes one for proof where it fits one row alone, and that row it alone: package, person, user and time. The events come from the inbox ("refcheck webhook listen"), or from --events FILE. Silence proves nothing.',
    'Where nothing can prove it, a person decides: --row N --confirm-email EMAIL sends that row again, with --drop never. Not within 15 minutes of the attempt. Ask the people of the service first: a second order is a second check on a real person.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> batch reconcile',
    '<%= config.bin %> batch reconcile 3f2b8c1e --events captured.ndjson',
    '<%= config.bin %> batch reconcile 3f2b8c1e --row 12 --confirm-email priya@example.com',
  ]
  static override args = {
    batch_id: batchIdArg({ description: 'batch, or the start of its id; all of them where absent' }),
  }
  static override flags = {
    events: Flags.string({ summary: 'Captured events, one JSON object a line.', helpValue: 'FILE' }),
    row: Flags.integer({ summary: 'Decide on this row.', helpValue: 'N', min: 1, exclusive: ['events'] }),
    'confirm-email': Flags.string({
      summary: 'E-mail of the row’s recipient, typed out.',
      helpValue: 'EMAIL',
      dependsOn: ['row'],
    }),
    drop: Flags.boolean({ summary: 'Drop the row instead of sending it again.', dependsOn: ['row'] }),
    reason: Flags.string({ summary: 'Why, for the record.', helpValue: 'TEXT', dependsOn: ['row'] }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { row, drop, events, reason } = this.flags
    const { scope, context } = this
    const batchId = this.args.batch_id
    const ports = await batchStartPorts(scope, this.signal)
    if (row === undefined) {
      const ids =
        events === undefined
          ? undefined
          : requestIdsIn((await readInput(context, events, 'the file of events')).toString('utf8'), events)
      const found = await reconcileFrom(ports, { batchId, ids })
      return this.answer(reconciledView(found), unsettled(found, batchId))
    }
    this.refuse(batchId === undefined, 'which batch the row is in is not said', 'Give BATCH_ID and --row.')
    const done = await settleManually(ports, scope.prompter(), {
      batchId: batchId ?? '',
      row,
      drop,
      confirmedEmail: this.flags['confirm-email'],
      reason,
    })
    this.answer(batchStatusView(statusOf(done.batch)), done.failure)
  }
}
