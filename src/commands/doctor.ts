import { BaseCommand, Flags } from '../cli/base-command.ts'
import { diagnose, createBugReport } from '../app/doctor.ts'
import { openOptionalFile, writeOutput } from '../app/output-file.ts'
import { timeoutFlag } from '../cli/flags/values.ts'
import { doctorView } from '../output/views/checks.ts'

export default class Doctor extends BaseCommand<typeof Doctor> {
  static override summary = 'Check the setup, and show what to fix'
  static override description =
    'Checks Node, folders, certificates, proxy, store, retention, profile, service, clock, key and quota. Makes two pings and one call (GET /v1/users). Changes nothing except the permissions of private files; where commands write, it writes a file and removes it. Exit 0 if nothing fails, else the code of the first failure. With --report it also writes a file for a bug report: versions, counts and results, and no name, address, path or key.'
  static override examples = [
    'refcheck doctor',
    'refcheck doctor --json',
    'refcheck doctor --report refcheck-report.json',
  ]
  static override flags = {
    report: Flags.string({
      summary: 'Write a file for a bug report, with nothing personal in it',
      helpValue: 'FILE',
    }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const supportedNode = this.config.pjson.engines?.node ?? ''
    const { report: reportPath } = this.flags
    const file = await openOptionalFile(this.context, reportPath, { flag: '--report' })
    const diagnosis = await diagnose(this.app, { needed: supportedNode, signal: this.signal })
    if (file !== undefined) {
      const report = await createBugReport(this.app, diagnosis)
      const text = this.app.secrets.redact(JSON.stringify(report, undefined, 2))
      await writeOutput(this.app, file, [Buffer.from(`${text}\n`)])
      if (reportPath !== undefined) this.app.reporter.note(`Wrote ${reportPath}. Read it before you send it.`)
    }
    this.answer(doctorView(diagnosis.findings, file?.path), diagnosis.failure)
  }
}
