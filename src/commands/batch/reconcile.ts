import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { timeoutFlag, batchIdArg, uuidFlag } from '../../cli/flags/values.ts'
import { showLines, createStartServices, statusWithPackage, withoutRepeatedHint } from '../../app/batch.ts'
import { readInput } from '../../app/input.ts'
import { requestIdsIn } from '../../domain/webhook/read-event.ts'
import { type ProvidersAnswer, unreconciledError } from '../../domain/batch/reconciliation.ts'
import { NotFoundError } from '../../errors/kinds.ts'
import { batchResultView, batchStatusView, reconciledView } from '../../output/views/batches.ts'
import { acknowledgeSecondOrder } from '../../usecases/batch/reconcile.ts'
import {
  decideUnknownRows,
  reconcileByEvidence,
  reconcileByDecision,
} from '../../usecases/batch/reconcile-batch.ts'

export default class BatchReconcile extends BaseCommand<typeof BatchReconcile> {
  static override summary = 'Settle rows that may or may not have been ordered'
  static override description = [
    'Reads the requests that webhook events name and this store does not have. A request settles a row when package, person, user and time match that row and no other. Events come from the inbox (refcheck webhook listen) or from --events FILE. A missing event proves nothing.',
    'If no proof is found, ask the provider whether they have a request for the person, and record the answer with --row N: they have it (--request-id UUID), they do not have it and it is ordered now (--confirm-email EMAIL, from 15 minutes after the attempt), or nobody knows and it is never sent (--drop). On a terminal you are asked about each unknown row, or with --row N about that one. A row that was recovered without its recipient cannot be ordered again: --confirm-email EMAIL closes it as cancelled, and the person can then be ordered. --request-id also records the request of a held row.',
    'If an event names a request that was not ordered with this store, for a person who was, it is reported as a possible second order until --acknowledge UUID. At most 30 such requests are read per hour.',
  ].join('\n\n')
  static override examples = [
    'refcheck batch reconcile',
    'refcheck batch reconcile 3f2b8c1e --events captured.ndjson',
    'refcheck batch reconcile 3f2b8c1e --row 12 --request-id 9d3c1a52-6f0e-4b7d-8a21-5c4e7f90b3d6',
    'refcheck batch reconcile 3f2b8c1e --row 12 --confirm-email priya@example.com',
  ]
  static override args = {
    batch_id: batchIdArg({ description: 'id of a batch, or the start of it (default: all batches)' }),
  }
  static override flags = {
    events: Flags.string({
      summary: 'Read captured events from a file, one JSON object per line',
      helpValue: 'FILE',
    }),
    row: Flags.integer({
      summary: 'Record what the provider said of this row',
      helpValue: 'N',
      min: 1,
      exclusive: ['events'],
    }),
    'request-id': uuidFlag({
      summary: 'The provider has it: this is its id',
      dependsOn: ['row'],
      exclusive: ['confirm-email', 'drop'],
    }),
    'confirm-email': Flags.string({
      summary:
        'The provider does not have it: order it now, or close a row without its recipient; repeat the recipient’s e-mail',
      helpValue: 'EMAIL',
      dependsOn: ['row'],
    }),
    drop: Flags.boolean({ summary: 'Nobody knows: never send the row', dependsOn: ['row'] }),
    acknowledge: uuidFlag({
      summary: 'Stop reporting this possible second order',
      exclusive: ['row', 'events'],
    }),
    reason: Flags.string({
      summary: 'Reason, recorded with the decision',
      helpValue: 'TEXT',
      dependsOn: ['row'],
    }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { row, events, reason, acknowledge } = this.flags
    const { app, context } = this
    const batchId = this.args.batch_id
    const services = await createStartServices(app, this.signal)
    if (acknowledge !== undefined && !(await acknowledgeSecondOrder(services, acknowledge))) {
      throw new NotFoundError(`request ${acknowledge} was not reported as a possible second order`, {
        hint: 'List the possible second orders with: refcheck batch reconcile',
      })
    }
    if (row === undefined) {
      const ids =
        events === undefined
          ? undefined
          : requestIdsIn((await readInput(context, events, 'the events file')).toString('utf8'), events)
      const evidence = await reconcileByEvidence(services, { batchId, ids })
      const prompter = this.flags.json ? undefined : app.prompter()
      const reconciled =
        prompter === undefined
          ? evidence
          : await decideUnknownRows({ ...services, prompter, onLines: showLines(app) }, evidence)
      return this.answer(reconciledView(reconciled), unreconciledError(reconciled, batchId))
    }
    this.refuseIf(
      batchId === undefined,
      '--row requires BATCH_ID',
      'List the unknown rows with: refcheck request list --status unknown',
    )
    const decision = { batchId: batchId ?? '', row, answer: this.parseProvidersAnswer(), reason }
    const { batch, text, failure } = await reconcileByDecision(services, decision)
    const status = await statusWithPackage(this.app, withoutRepeatedHint(batch, failure))
    this.answer(batchResultView(batchStatusView(status), text, undefined), failure)
  }

  /** Returns the provider's answer that the flags state, or undefined. --drop overrides --confirm-email. */
  private parseProvidersAnswer(): ProvidersAnswer | undefined {
    const { drop, 'request-id': requestId, 'confirm-email': confirmedEmail } = this.flags
    if (requestId !== undefined) return { kind: 'has', requestId }
    if (drop) return { kind: 'leave' }
    return confirmedEmail === undefined ? undefined : { kind: 'order', confirmedEmail }
  }
}
