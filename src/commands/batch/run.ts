import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import {
  allowancesOf,
  allowFlags,
  columnChoices,
  columnFlags,
  showChangesFlag,
} from '../../cli/flags/people.ts'
import { longTimeoutFlag } from '../../cli/flags/values.ts'
import {
  batchView,
  finishedView,
  orderPrompts,
  createPlanServices,
  readingDefaults,
  runBatch,
} from '../../app/batch.ts'
import { readInput } from '../../app/input.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import { errorsCommand, noFileHint, orderAgainHint } from '../../domain/batch/file-command.ts'
import { findEarlierOrders } from '../../domain/batch/plan.ts'
import { openPlannedFile, type FileToOrder, orderFile } from '../../usecases/batch/order-file.ts'
import { type BatchFile, openBatchFile } from '../../usecases/batch/read-file.ts'
import { isReadingChosen, readWithAnswers, withDefaults } from '../../usecases/batch/read-file.ts'

export default class BatchRun extends BaseCommand<typeof BatchRun> {
  static override summary = 'Order checks for every person in a file'
  static override description = [
    'Checks every row, shows the plan, asks for confirmation, and orders row by row within the quota. Each order is recorded before it is sent. After any stop, run the same file again, under any name: it continues where it was. Rows ordered before with this store, by any command, are not ordered again.',
    'Ctrl-C finishes the row in flight. Exit 8: a row may or may not have been ordered (see: refcheck batch reconcile). Exit 10: not every row was accepted.',
  ].join('\n\n')
  static override examples = [
    'refcheck batch run people.csv --package 102',
    'refcheck batch run --plan plan.json --yes --json',
  ]
  static override args = {
    file: Args.string({ ignoreStdin: true, description: 'file to read; - for stdin' }),
  }
  static override flags = {
    ...columnFlags,
    plan: Flags.string({
      summary: 'Use a plan that "batch plan" saved',
      helpValue: 'FILE',
      exclusive: Object.keys(columnFlags),
    }),
    'dry-run': Flags.boolean({ summary: 'Check and plan, send nothing' }),
    yes: Flags.boolean({ summary: 'Skip the confirmation' }),
    max: Flags.integer({ summary: 'Stop after this many orders', helpValue: 'N', min: 1 }),
    'on-invalid': Flags.option({
      options: ['stop', 'skip'] as const,
      default: 'stop' as const,
      summary: 'If a row is invalid: order nothing, or skip that row',
    })(),
    ...allowFlags,
    again: Flags.boolean({ summary: 'Make a new batch of a file whose batch is finished' }),
    results: Flags.string({ summary: 'Results file (default: beside the input)', helpValue: 'FILE' }),
    'show-changes': showChangesFlag,
    timeout: longTimeoutFlag,
  }

  async run(): Promise<void> {
    const { flags, app } = this
    const [flagChoices, isPlanned] = [columnChoices(flags), flags.plan !== undefined]
    const choices = isPlanned ? flagChoices : await withDefaults(flagChoices, await readingDefaults(app))
    const { yes, 'show-changes': showChanges } = flags
    const createPrompts = orderPrompts(app, { ...flags, showChanges }, (text) => this.confirm(text, yes))
    const { file, end } = await readWithAnswers(choices, app.prompter(), async () => {
      const { file: batchFile, columns, allowances } = await this.openFile(choices)
      const options = {
        columns,
        isReadingChosen: isPlanned || isReadingChosen(flagChoices),
        allowances,
        skipInvalid: flags['on-invalid'] === 'skip',
        isDryRun: flags['dry-run'],
        results: flags.results,
        isAgain: flags.again,
        errorsCommand: () => errorsCommand(this.args.file ?? '-', columns),
      }
      const services = { ...(await createPlanServices(app)), signal: this.signal }
      const prompts = createPrompts(batchFile.name)
      return { file: batchFile, end: await orderFile(services, prompts, batchFile, options) }
    })
    if (flags['dry-run']) app.reporter.note('Dry run: nothing was sent.')
    if (end.kind === 'existing-batch')
      return this.answer(await batchView(app, end.batch, flags.json, { previewed: end.notSent }))
    if (end.kind === 'unstarted') {
      const { unstartedView } = await import('../../output/views/batch-check.ts')
      this.answer(unstartedView(end, file.name, showChanges), end.failure)
      if (flags.again && findEarlierOrders(end.plan) !== undefined) app.reporter.note(orderAgainHint)
      return
    }
    if (end.finished !== undefined)
      return this.answer(await finishedView(app, end.finished, flags.json, file.name))
    await this.continueBatch(end.batchId, file, end.isPlanned)
  }

  protected async continueBatch(batchId: string, file: BatchFile, isPlanned: boolean): Promise<void> {
    const { max: maxOrders, json: isJson } = this.flags
    const options = { file, maxOrders, isPlanned, isJson, reportsUnreadResults: false }
    this.answer(...(await runBatch(this.app, this.signal, batchId, options)))
  }

  private async openFile(columns: ColumnChoices): Promise<FileToOrder> {
    const [plan, file] = [this.flags.plan, this.args.file]
    this.refuseIf(file === undefined && plan === undefined, 'FILE is missing', noFileHint)
    const hasBoth = file !== undefined && plan !== undefined
    this.refuseIf(hasBoth, 'FILE and --plan cannot be combined', 'Omit FILE.')
    const [files, allowances] = [await this.app.service('files'), allowancesOf(this.flags)]
    if (plan !== undefined) {
      const text = (await readInput(this.context, plan, 'the plan')).toString('utf8')
      return openPlannedFile(files, await this.app.service('api'), { text, name: plan }, allowances)
    }
    return { file: await openBatchFile(files, file ?? '-', columns), columns, allowances }
  }
}
