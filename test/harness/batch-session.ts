import type { World } from './world.ts'

/** Flags of a run that asks nothing and answers for a script. */
export const running: readonly string[] = ['--package', '102', '--yes', '--json']

/** The command line of a batch of a file. */
export const batchRun = (file: string, more: readonly string[] = []): string[] => [
  'batch',
  'run',
  file,
  ...running,
  ...more,
]

/** Persons the service was asked to check, by their e-mails. */
export const ordered = ({ sandbox }: World): string[] =>
  sandbox.requests().map(({ recipient }) => recipient.email)
