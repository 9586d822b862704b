import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import {
  allowancesOf,
  allowFlags,
  columnChoices,
  columnFlags,
  showChangesFlag,
} from '../../cli/flags/people.ts'
import { timeoutFlag } from '../../cli/flags/values.ts'
import { recordWrittenFile } from '../../app/output-file.ts'
import { createPlanServices, readingDefaults } from '../../app/batch.ts'
import { errorsCommand, fileCommand } from '../../domain/batch/file-command.ts'
import { invalidRowsError } from '../../domain/batch/plan.ts'
import { batchCheckView } from '../../output/views/batch-check.ts'
import {
  readWithAnswers,
  withDefaults,
  openBatchFile,
  findDefaultPackage,
  readOrders,
} from '../../usecases/batch/read-file.ts'
import { planBatch } from '../../usecases/batch/order-file.ts'
import { writeBatchErrors } from '../../usecases/batch/results-file.ts'

export default class BatchValidate extends BaseCommand<typeof BatchValidate> {
  static override summary = 'Check every row of a file, send nothing'
  static override description = [
    'Reads CSV, TSV, XLSX, ODS, JSON and JSON Lines. Columns: first_name, last_name, email, phone (also as recipient.*), CODE.FIELD for what checks need, and package_id if rows differ. Other columns are refused unless --map or --ignore names them. A likely meaning is suggested, never assumed.',
    'Exit 2 if a row is invalid. Rows with the same order are listed; only the first of them would be sent.',
  ].join('\n\n')
  static override examples = [
    'refcheck batch validate people.csv --package 102',
    "refcheck batch validate export.xlsx --map 'Given name=first_name' --save-mapping workday",
    'refcheck batch validate people.csv --mapping workday --errors invalid.xlsx',
  ]
  static override args = {
    file: Args.string({ required: true, ignoreStdin: true, description: 'file to read; - for stdin' }),
  }
  static override flags = {
    ...columnFlags,
    ...allowFlags,
    errors: Flags.string({
      summary: 'Write the invalid rows to a file, each with its problems',
      helpValue: 'FILE',
    }),
    'show-changes': showChangesFlag,
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { flags, app } = this
    const files = await app.service('files')
    const choices = await withDefaults(columnChoices(flags), await readingDefaults(app))
    const { file, orders, plan, onBatchEvent } = await readWithAnswers(choices, app.prompter(), async () => {
      const openedFile = await openBatchFile(files, this.args.file, choices)
      const services = { ...(await createPlanServices(app)), signal: this.signal }
      choices.packageId = await findDefaultPackage(services, openedFile, choices)
      const batchOrders = await readOrders(services, openedFile, choices, choices.packageId)
      const { packageId } = choices
      const planOptions = {
        choices,
        allowances: allowancesOf(flags),
        packageId,
        isCheck: true,
      }
      const planned = await planBatch(services, openedFile, batchOrders, planOptions)
      return {
        file: openedFile,
        orders: batchOrders,
        plan: planned.plan,
        onBatchEvent: services.onBatchEvent,
      }
    })
    if (flags.errors !== undefined) {
      const path = await writeBatchErrors({ ...files, onBatchEvent }, orders.sheet, plan.check, flags.errors)
      await recordWrittenFile(app, { path, kind: 'export' })
      app.reporter.note(`The invalid rows are in ${path}`)
    }
    const errorsFileCommand = flags.errors === undefined ? errorsCommand(this.args.file, choices) : undefined
    const failure = invalidRowsError(plan.check, file.name, errorsFileCommand)
    if (failure !== undefined && flags.errors !== undefined) {
      const { packageId, defaultCountry, map, ignore, mapping } = choices
      const columns = { packageId, defaultCountry, map, ignore, mapping }
      failure.hint = `Nothing was sent. Fix them in that file, then order them with: ${fileCommand('run', { file: flags.errors, columns, allowed: allowancesOf(flags) })}`
    }
    this.answer(batchCheckView(plan, file.name, flags['show-changes']), failure)
    const { pending, held } = plan.counts
    if (failure !== undefined || file.path === undefined || pending + held === 0) return
    const order = { file: this.args.file, columns: choices, allowed: allowancesOf(flags) }
    app.reporter.note(`Order them with: ${fileCommand('run', order)}`)
  }
}
