import { BaseCommand } from '../cli/base-command.ts'
import { diagnose } from '../compose/doctor.ts'
import { timeoutFlag } from '../cli/flags/duration.ts'
import { doctorView } from '../output/views/doctor.ts'

export default class Doctor extends BaseCommand<typeof Doctor> {
  static override summary = 'Check the setup, and show what to fix'
  static override description =
    'Checks Node, folders, certificates, proxy, store, profile, service, clock, key and quota. Makes two pings and one call (GET /v1/users). Changes nothing except the permissions of private files; where commands write, it writes a file and removes it. Exit 0 if nothing fails, else the code of the first failure.'
  static override examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor --json']
  static override flags = { timeout: timeoutFlag }

  async run(): Promise<void> {
    const needed = this.config.pjson.engines?.node ?? ''
    const { findings, failure } = await diagnose(this.scope, { needed, signal: this.signal })
    this.answer(doctorView(findings), failure)
  }
}
