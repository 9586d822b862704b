import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import {
  allowancesOf,
  allowFlags,
  columnChoices,
  columnFlags,
  showChangesFlag,
} from '../../cli/flags/people.ts'
import { timeoutFlag } from '../../cli/flags/values.ts'
import { openOutputFile, writeOutput } from '../../app/output-file.ts'
import { errorsCommand } from '../../domain/batch/file-command.ts'
import { toStoredPlan, planFailure } from '../../domain/batch/plan.ts'
import { createPlanServices, readingDefaults } from '../../app/batch.ts'
import { storedPlanView, planText } from '../../output/views/batch-check.ts'
import {
  readWithAnswers,
  withDefaults,
  openBatchFile,
  findDefaultPackage,
  readOrders,
} from '../../usecases/batch/read-file.ts'
import { planBatch } from '../../usecases/batch/order-file.ts'

export default class BatchPlan extends BaseCommand<typeof BatchPlan> {
  static override summary = 'Show what running a file would do, and save the plan'
  static override description =
    'Nothing is sent. "refcheck batch run --plan FILE" then runs the file exactly as it was read here, and refuses it if it has changed since.'
  static override examples = [
    'refcheck batch plan people.csv --package 102 --output plan.json',
    'refcheck batch run --plan plan.json',
  ]
  static override args = {
    file: Args.string({ required: true, ignoreStdin: true, description: 'file to read' }),
  }
  static override flags = {
    ...columnFlags,
    ...allowFlags,
    output: Flags.string({ summary: 'Save the plan in this file', helpValue: 'FILE' }),
    overwrite: Flags.boolean({ summary: 'Replace the file if it exists' }),
    'show-changes': showChangesFlag,
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { flags, app, context } = this
    this.refuseIf(
      this.args.file === '-',
      'a plan needs a file that can be read again',
      'Give the name of a file.',
    )
    const outputFile = await openOutputFile(context, flags.output, flags)
    const choices = await withDefaults(columnChoices(flags), await readingDefaults(app))
    const { file, planned } = await readWithAnswers(choices, app.prompter(), async () => {
      const openedFile = await openBatchFile(await app.service('files'), this.args.file, choices)
      const services = await createPlanServices(app)
      const packageId = await findDefaultPackage(services, openedFile, choices)
      choices.packageId = packageId
      const orders = await readOrders(services, openedFile, choices, packageId)
      const planOptions = { choices, allowances: allowancesOf(flags), packageId }
      return { file: openedFile, planned: await planBatch(services, openedFile, orders, planOptions) }
    })
    const { reporter } = app
    reporter.note(planText(planned.plan, file.name, reporter.terminal, flags['show-changes']))
    const planToStore = toStoredPlan(planned.plan, {
      file: file.path ?? file.name,
      sha256: file.sha256,
      base_url: planned.batch.baseUrl,
      package_id: choices.packageId ?? null,
      reading: planned.reading,
      allow_duplicate: flags['allow-duplicate'],
      allow_similar: flags['allow-similar'],
      shared: flags.shared ?? [],
      ignore_results: flags['ignore-results'],
    })
    if (outputFile.path !== undefined) {
      const text = `${JSON.stringify(planToStore, null, 2)}\n`
      await writeOutput(app, outputFile, [Buffer.from(text)], { kind: 'plan' })
    }
    this.answer(
      storedPlanView(planToStore, outputFile.path),
      planFailure(planned.plan, file.name, {
        errorsCommand: errorsCommand(this.args.file, choices),
        isDryRun: true,
      }),
    )
  }
}
