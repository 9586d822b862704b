import { Args, BaseCommand, Flags } from '../../cli/base-command.ts'
import { openStoresToMove } from '../../app/store.ts'
import { storeMoveQuestion, storeMovedView } from '../../output/views/store.ts'
import { moveStore } from '../../usecases/store/move.ts'

export default class StoreMove extends BaseCommand<typeof StoreMove> {
  static override summary = 'Move the whole store to a file or a PostgreSQL database'
  static override description = [
    'Copies all of FROM to TO, compares what both then hold, table by table, and closes FROM permanently: whoever still uses it is told where it went. Stop everything that uses the store first. TO is a new file, or a database without a store; its tables are made. If it is interrupted, run the same command again.',
    'A password does not belong on the command line: keep it in ~/.pgpass or PGPASSWORD.',
  ].join('\n\n')
  static override examples = [
    'refcheck store move ledger.sqlite postgres://hr@127.0.0.1/hr',
    "refcheck store move 'postgres://hr@db.example.com/hr?sslmode=verify-full' ledger.sqlite",
  ]
  static override args = {
    from: Args.string({ required: true, ignoreStdin: true, description: 'a file or a postgres:// address' }),
    to: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'a new file, or a database without a store',
    }),
  }
  static override flags = { yes: Flags.boolean({ summary: 'Skip the confirmation' }) }

  async run(): Promise<void> {
    const { from, to } = this.args
    const services = await openStoresToMove(this.app, from, to)
    const question = storeMoveQuestion(await services.oldStore.maintenance.info(), services.newLocation)
    const confirm = () => this.confirm(question, this.flags.yes)
    this.answer(storeMovedView(await moveStore({ ...services, confirm })))
  }
}
