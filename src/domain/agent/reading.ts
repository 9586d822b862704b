import { InternalError } from '../../errors/kinds.ts'

/** The command lines that an agent's calls may become; each reads, but for the PDFs in the folder it was given. */
const reading: readonly (readonly string[])[] = [
  ['packages', 'list'],
  ['schema', 'show'],
  ['request', 'get'],
  ['request', 'list'],
  ['batch', 'validate'],
  ['batch', 'plan'],
  ['batch', 'list'],
  ['batch', 'status'],
  ['batch', 'rows'],
  ['batch', 'export'],
  ['webhook', 'events', 'list'],
  ['quota'],
  ['report', 'download'],
]

/** Those that would order are run dry or not at all. */
const dry: readonly (readonly string[])[] = [
  ['request', 'create'],
  ['batch', 'run'],
]

const startsWith = (argv: readonly string[], words: readonly string[]): boolean =>
  words.every((word, at) => argv[at] === word)

/** Throws for a line that could order or change anything. No call makes one; this is the second lock. */
export function requireReading(argv: readonly string[]): void {
  if (reading.some((words) => startsWith(argv, words))) return
  if (dry.some((words) => startsWith(argv, words)) && argv.includes('--dry-run')) return
  throw new InternalError('a call of an agent became a command that it may not run')
}
