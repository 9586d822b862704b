import { sandboxFlags } from '../../cli/flags/server.ts'
import { SandboxCommand } from '../../cli/sandbox-command.ts'
import { renewedKeyView } from '../../output/views/sandbox.ts'

export default class SandboxRenewKey extends SandboxCommand<typeof SandboxRenewKey> {
  static override summary = 'Generate a new API key and revoke the old one'
  static override description =
    'As an Owner does in the organisation settings, for example after "revoke-key" was injected. The key is printed once: pipe it to "auth login --with-key".'
  static override examples = [
    'refcheck sandbox renew-key',
    'refcheck sandbox renew-key | refcheck auth login --profile sandbox --base-url http://127.0.0.1:4280 --email olive.owner@example.com --with-key',
  ]
  static override flags = sandboxFlags

  async run(): Promise<void> {
    const sandbox = await this.connect(this.flags['base-url'])
    const { api_key } = (await sandbox.send('renew-key', {})) as { api_key: string }
    this.answer(renewedKeyView(api_key))
  }
}
