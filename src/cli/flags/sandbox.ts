import { Flags } from '../oclif.ts'

/** Which running sandbox a command steers. */
export const sandboxFlags = {
  'base-url': Flags.string({
    summary: 'Base URL of the sandbox (default: the one in use)',
    helpValue: 'URL',
  }),
}
