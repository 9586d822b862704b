import { BaseCommand } from '../../cli/base-command.ts'
import { timeoutFlag, batchArgs, packageIdFlag } from '../../cli/flags/values.ts'
import { updateResultsFile, statusWithPackage } from '../../app/batch.ts'
import { formatCount } from '../../domain/wording/text.ts'
import { batchStatusView } from '../../output/views/batches.ts'
import { moveBatch } from '../../usecases/batch/change-batch.ts'
import { findBatch } from '../../usecases/batch/read-batch.ts'

export default class BatchMove extends BaseCommand<typeof BatchMove> {
  static override summary = 'Continue a batch under the package that replaced its own'
  static override description =
    'Moves the rows that were not accepted (pending, held, rejected, duplicate) to another package, if each of them fits its schema. What was ordered stays as it is. From then on, a person ordered under one of the two packages counts as ordered under the other. If the package did not replace that of the batch, a terminal asks first. Nothing is sent; use "refcheck batch resume" for that.'
  static override examples = ['refcheck batch move 3f2b8c1e --package 107']
  static override args = batchArgs
  static override flags = {
    package: packageIdFlag({ summary: 'Package that replaces the one of the batch', required: true }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { app, signal, flags } = this
    const batchServices = await app.batchServices()
    const batch = await findBatch(batchServices, this.args.batch_id)
    let isEffectKnown = false
    const services = {
      ...batchServices,
      api: await app.service('api'),
      schemas: await app.service('schemas'),
      files: await app.service('files'),
      signal,
      onUnrelatedPackage: async (effect: string, rowCount: number) => {
        isEffectKnown = true
        const canAsk = !flags.json && app.prompter() !== undefined
        if (canAsk) return this.confirm(`${effect} Move ${formatCount(rowCount, 'row')}?`, false)
        app.reporter.warn(effect)
      },
    }
    const movedCount = await moveBatch(services, batch, flags.package ?? 0)
    if (movedCount > 0) await updateResultsFile(app, batch)
    const movedBatch = await findBatch(batchServices, batch.id)
    const { accepted, pending, held, rejected } = movedBatch.counts
    app.reporter.note(
      [
        `Moved ${formatCount(movedCount, 'row')} to package ${flags.package}.`,
        ...(accepted > 0 ? ['The accepted rows keep the package under which they were ordered.'] : []),
        ...(isEffectKnown
          ? []
          : [
              `From now on, ${batch.packageId} and ${flags.package} count as one package: a person who was ordered under one is not ordered under the other.`,
            ]),
        ...(rejected > 0 ? [`Make the rejected rows pending with: refcheck batch retry ${batch.id}`] : []),
        ...(held > 0 ? [`Decide about the held rows: refcheck batch release ${batch.id}`] : []),
        ...(pending > 0
          ? [`Order ${pending === 1 ? 'it' : 'them'} with: refcheck batch resume ${batch.id}`]
          : []),
      ].join('\n'),
    )
    this.answer(batchStatusView(await statusWithPackage(this.app, movedBatch)))
  }
}
