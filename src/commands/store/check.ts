import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { listFindings } from '../../domain/store/closing.ts'
import { findStoreError } from '../../domain/store/closing.ts'
import { heldText, storeCheckView } from '../../output/views/store.ts'

export default class StoreCheck extends BaseCommand<typeof StoreCheck> {
  static override summary = 'Check the store for damage and missing orders'
  static override description = [
    'Reads all of it: the database’s own check, the references between its tables, the body of every order against its hash, the triggers, rules and defaults of a PostgreSQL database, and the attempt logs that this machine keeps outside the store. A store that lacks attempts of a log (a backup was restored, or a file of it removed) is closed: the attempts are recovered and listed, and nothing is ordered until --accept-older. Exit 1 if something is wrong.',
    'Every machine that ordered with a shared store has its own attempt log. After a failover or a restored backup, run it on each of them; what one machine finds says nothing about the logs of the others.',
  ].join('\n\n')
  static override examples = [
    'refcheck store check',
    'refcheck store check --restored',
    'refcheck store check --without hr-2',
  ]
  static override flags = {
    'accept-older': Flags.boolean({
      summary: 'Open a closed store once every machine has reported or is excluded',
    }),
    restored: Flags.boolean({
      summary: 'Close the store until every machine has reported, after a backup was restored',
    }),
    without: Flags.string({
      summary: 'Wait for no report of this machine',
      multiple: true,
      helpValue: 'NAME',
    }),
    'without-list': Flags.boolean({
      summary: 'Order without an attempt log that lasts if none can be kept',
    }),
    yes: Flags.boolean({ summary: 'Skip the confirmation' }),
  }

  async run(): Promise<void> {
    const { maintenance, rollbacks, location } = await this.app.service('store')
    const { 'accept-older': acceptsOlder, restored, without = [], 'without-list': withoutLog } = this.flags
    if (withoutLog) await rollbacks.allowWithoutLog()
    if (restored) await rollbacks.closeAsRestored()
    if (without.length > 0) {
      await this.confirm(
        `Exclude ${without.join(', ')}, and hold all waiting rows, which it may have sent?`,
        this.flags.yes,
      )
      await this.#reportHeld(await rollbacks.exclude(without))
    }
    const examination = acceptsOlder ? await rollbacks.examine() : undefined
    const moveError =
      examination?.closing?.move === undefined ? undefined : findStoreError(location, [], examination)
    if (moveError !== undefined) throw moveError
    const acceptedExamination =
      examination?.closing === undefined || examination.reopenStep === 'reports' ? undefined : examination
    if (acceptedExamination !== undefined) {
      const question =
        acceptedExamination.reopenStep === 'acceptance'
          ? 'Continue with this store, although it may lack orders that no attempt log names?'
          : 'Open the store, because no other machine has ordered with it?'
      await this.confirm(question, this.flags.yes)
      await this.#reportHeld(await rollbacks.acceptOlder())
    }
    const damage = await maintenance.check()
    const finalExamination = await rollbacks.examine()
    const findings = listFindings(damage, finalExamination)
    this.answer(
      storeCheckView(location, findings, finalExamination, acceptedExamination),
      findStoreError(location, damage, finalExamination),
    )
  }

  async #reportHeld({ held }: { held: number }): Promise<void> {
    if (held === 0) return
    const batches = await this.app.service('batches')
    const allBatches = await batches.list({ includesSingleOrders: true })
    const ids: string[] = []
    for (const { id, counts } of allBatches) {
      if (counts.held === 0) continue
      // Other rows may have been held before, for another reason.
      for await (const { heldFor } of batches.rows(id, { states: ['held'] })) {
        if (heldFor !== 'store_forgot') continue
        ids.push(id)
        break
      }
    }
    this.app.note(heldText(held, ids))
  }
}
