import { BaseCommand } from '../../cli/base-command.ts'
import { columnFlags } from '../../cli/flags/columns.ts'
import { timeoutFlag } from '../../cli/flags/duration.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import { statusOf } from '../../domain/batch/standing.ts'
import { unsent } from '../../domain/batch/unsent.ts'
import { planText, unstartedView } from '../../output/views/batch-check.ts'
import { batchGoesOnText, batchStatusView } from '../../output/views/batches.ts'
import { appliedPlan } from '../../usecases/batch/apply-plan.ts'
import { type BatchFile, openBatchFile } from '../../usecases/batch/open-file.ts'
import { notOrderable, planBatch } from '../../usecases/batch/plan.ts'
import { packageFor, readOrders } from '../../usecases/batch/read-orders.ts'
import { resultsPlace } from '../../usecases/batch/results-file.ts'
import { applyToKnown, carryOutBatch, knownBatch, requireSameReading } from '../../usecases/batch/start.ts'

export default class BatchRun extends BaseCommand<typeof BatchRun> {
  static override summary = 'Order checks for every row of a file, nobody twice.'
  static override description = [
    'Checks every row, shows the plan, confirms, and orders one row at a time within the quota. Each order is journaled before it is sent. Run it again after any stop, with the same file under any name: it goes on where it was. Rows ordered before, here or by any other command on this store, are not ordered again.',
    'Ctrl-C finishes the row in flight. Exit 8: a row may or may not have been ordered (refcheck batch reconcile). Exit 10: not every row was accepted.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> batch run people.csv --package 102',
    '<%= config.bin %> batch run people.xlsx --mapping workday --dry-run',
    '<%= config.bin %> batch run --plan plan.json --yes --json',
  ]
  static override args = {
    file: Args.string({ ignoreStdin: true, description: 'file, or - for stdin' }),
  }
  static override flags = {
    ...columnFlags,
    plan: Flags.string({
      summary: 'Run what "batch plan" looked at, read as it was then.',
      helpValue: 'FILE',
      exclusive: Object.keys(columnFlags),
    }),
    'dry-run': Flags.boolean({ summary: 'Check and plan; send nothing.' }),
    yes: Flags.boolean({ summary: 'Order without a question.' }),
    max: Flags.integer({ summary: 'Stop after this many orders.', helpValue: 'N', min: 1 }),
    'on-invalid': Flags.option({
      options: ['stop', 'skip'] as const,
      default: 'stop' as const,
      summary: 'What a row that is not fit to be ordered does to the others.',
    })(),
    'allow-duplicate': Flags.boolean({ summary: 'Order though the same was ordered before.' }),
    results: Flags.string({ summary: 'Where the results go (default: beside the file).', helpValue: 'FILE' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const file = await this.file()
    const packageId = await packageFor(this.services, file, this.flags)
    const known = await knownBatch(this.services, file, packageId)
    await (known === undefined ? this.start(file, packageId) : this.goOn(known, file))
  }

  private async file(): Promise<BatchFile> {
    const { plan } = this.flags
    const { file } = this.args
    this.refuse(file === undefined && plan === undefined, 'the file is missing', 'Name it, or - for stdin.')
    this.refuse(file !== undefined && plan !== undefined, 'FILE and --plan exclude each other', 'Name one.')
    if (plan !== undefined) return appliedPlan(this.context, await this.services.api(), plan, this.flags)
    return openBatchFile(this.context, file ?? '-', this.flags.sheet)
  }

  /** The file is a batch already. */
  private async goOn(known: Batch, file: BatchFile): Promise<void> {
    const { flags, services } = this
    await requireSameReading(services, file, flags, known)
    services.reporter.note(batchGoesOnText(statusOf(known)))
    if (flags['dry-run']) return this.answer(batchStatusView(statusOf(known)))
    if (known.counts.pending > 0) {
      await this.confirm(`Order checks for ${known.counts.pending} people?`, flags.yes)
    }
    await applyToKnown(services, file, known, flags)
    await this.carryOut(known.id, file)
  }

  /** Takes the file in, unless another process did while this one looked at it. */
  private async start(file: BatchFile, packageId: number | undefined): Promise<void> {
    const { flags, services } = this
    const orders = await readOrders(services, file, flags, packageId)
    const resultsFile = await resultsPlace(services, file, flags.results)
    const { plan, intake, batch } = await planBatch(services, file, orders, { flags, packageId, resultsFile })
    const meanwhile = await knownBatch(services, file, packageId)
    if (meanwhile !== undefined) return this.goOn(meanwhile, file)
    const nothing = unsent(plan, file.name, { skip: flags['on-invalid'] === 'skip' })
    const halt = nothing ?? (flags['dry-run'] ? undefined : await notOrderable(services, this.signal, plan))
    if (halt !== undefined || flags['dry-run']) {
      return this.answer(unstartedView(plan, file.name, packageId), halt)
    }
    if (!flags.quiet || !flags.yes) {
      services.reporter.block(planText(plan, file.name, services.reporter.terminal))
    }
    await this.confirm(`Order checks for ${plan.counts.pending} people?`, flags.yes)
    const there = await (await services.batches()).batches.add(batch, intake.rows)
    await (there === undefined ? this.carryOut(batch.id, file) : this.goOn(there, file))
  }

  private async carryOut(batchId: string, file: BatchFile): Promise<void> {
    const done = await carryOutBatch(this.services, this.signal, batchId, { file, max: this.flags.max })
    this.answer(batchStatusView(statusOf(done.batch)), done.failure)
  }
}
