import { Flags } from '../oclif.ts'

/** Which running sandbox a command steers. */
export const sandboxFlags = {
  'base-url': Flags.string({ summary: 'The sandbox (default: the service in use).', helpValue: 'URL' }),
}
