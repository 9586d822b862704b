import { BaseCommand, Flags } from '../../cli/base-command.ts'
import { timeoutFlag } from '../../cli/flags/values.ts'
import { readSecretLine } from '../../app/input.ts'
import { loginAsking } from '../../usecases/session/login.ts'
import { loginView, replacedText } from '../../output/views/account.ts'

export default class AuthLogin extends BaseCommand<typeof AuthLogin> {
  static override summary = 'Check an API key and save it as a profile'
  static override description =
    'Asks for the base URL, the API key (not shown) and the user e-mail, checks them, and saves a profile; what is refused is asked for again. For a profile that exists, it asks for the new key alone. The key goes into the system keychain where there is one, else into a file that only this account can read. For scripts: --with-key reads the key from stdin.'
  static override examples = [
    'refcheck auth login',
    'refcheck auth login --profile acme --base-url https://api.example.com --email ana@example.com --with-key < key.txt',
  ]
  static override flags = {
    'base-url': Flags.string({ summary: 'Base URL of the service', helpValue: 'URL' }),
    email: Flags.string({ summary: 'E-mail of the user who makes the calls', helpValue: 'EMAIL' }),
    'with-key': Flags.boolean({ summary: 'Read the API key from stdin' }),
    'insecure-storage': Flags.boolean({ summary: 'Keep the key in a file even if there is a keychain' }),
    timeout: timeoutFlag,
  }

  async run(): Promise<void> {
    const { flags, app, signal } = this
    const { connect, ...stores } = await app.services('settings', 'secrets', 'connect')
    const apiKey = flags['with-key'] ? await readSecretLine(this.context, 'the API key') : undefined
    const insecure = flags['insecure-storage']
    const result = await loginAsking(
      { baseUrl: flags['base-url'], apiKey, email: flags.email },
      {
        prompter: app.prompter(),
        profile: flags.profile,
        insecure,
        ...stores,
        connect,
        requireReachable: async (baseUrl) => void (await connect({ baseUrl }).ping(signal)),
        onRefused: ({ message }) => app.reporter.warn(message),
        signal,
      },
    )
    if (result.storage === 'file' && !insecure) app.reporter.note('No system keychain is available.')
    if (result.replaced.length > 0) app.reporter.warn(replacedText(result.replaced))
    this.answer(loginView(result, result.baseUrl, stores.secrets.path))
    app.reporter.note('Next, see what can be ordered: refcheck packages list --status active')
  }
}
