import { BaseCommand } from '../../cli/base-command.ts'
import { columnChoices, columnFlags, showChangesFlag } from '../../cli/flags/columns.ts'
import { timeoutFlag } from '../../cli/flags/duration.ts'
import { Args, Flags } from '../../cli/oclif.ts'
import { batchFilePorts, filePlace, readingDefaults } from '../../compose/batch.ts'
import { readingFlags } from '../../domain/batch/columns.ts'
import { shellWord } from '../../domain/wording/shell-word.ts'
import { badRows } from '../../domain/batch/check.ts'
import { batchCheckView } from '../../output/views/batch-check.ts'
import { readAsAnswered } from '../../usecases/batch/ask-reading.ts'
import { withDefaults } from '../../usecases/batch/reading-defaults.ts'
import { checkBatch } from '../../usecases/batch/check.ts'
import { openBatchFile } from '../../usecases/batch/open-file.ts'
import { packageFor, readOrders } from '../../usecases/batch/read-orders.ts'
import { writeBatchErrors } from '../../usecases/batch/results-file.ts'

export default class BatchValidate extends BaseCommand<typeof BatchValidate> {
  static override summary = 'Check every row of a file against the package’s schema; nothing is sent.'
  static override description = [
    'CSV, TSV, XLSX, JSON or JSON Lines. Columns: first_name, last_name, email, phone (also recipient.*), CODE.FIELD for what checks ask, and package_id where rows differ. A column that is none of these is refused unless --map or --ignore says what to do with it; likely names are suggested, and never taken without a yes.',
    'Exit 2 when a row is not fit to be ordered. Rows that order the same are told, and only the first would be sent.',
  ].join('\n\n')
  static override examples = [
    '<%= config.bin %> batch validate people.csv --package 102',
    "<%= config.bin %> batch validate export.xlsx --map 'Given name=first_name' --save-mapping workday",
    '<%= config.bin %> batch validate people.csv --mapping workday --errors mend.xlsx',
  ]
  static override args = {
    file: Args.string({ required: true, ignoreStdin: true, description: 'file, or - for stdin' }),
  }
  static override flags = {
    ...columnFlags,
    errors: Flags.string({
      summary: 'Write bad rows, as they are, with what is wrong with them.',
      helpValue: 'FILE',
    }),
    'show-changes': showChangesFlag,
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { flags, scope } = this
    const place = filePlace(scope)
    const choices = await withDefaults(columnChoices(flags), await readingDefaults(scope))
    const { file, orders, check } = await readAsAnswered(choices, scope.prompter(), async () => {
      const opened = await openBatchFile(place, this.args.file, choices)
      const ports = await batchFilePorts(scope)
      choices.packageId = await packageFor(ports, opened, choices)
      const understood = await readOrders(ports, opened, choices, choices.packageId)
      return { file: opened, orders: understood, check: await checkBatch(understood) }
    })
    if (flags.errors !== undefined) {
      const path = await writeBatchErrors(place, orders, check, flags.errors)
      scope.reporter.note(`The rows to mend are in ${path}`)
    }
    const failure = badRows(check, file.name)
    this.answer(batchCheckView(check, file.name, flags['show-changes']), failure)
    if (failure !== undefined || file.path === undefined) return
    const words = ['refcheck batch run', shellWord(this.args.file), readingFlags(choices)]
    scope.reporter.note(`Order them with: ${words.join(' ').trim()}`)
  }
}
