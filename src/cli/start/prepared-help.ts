import { readFileSync } from 'node:fs'

type Kind = 'commands' | 'topics'

/** Where the page of a command or topic is, from the folder of pages. */
export function helpFile(kind: Kind, words: readonly string[]): string {
  return `${kind}/${['refcheck', ...words].join('.')}.txt`
}

/**
 * The help page that a command line plainly asks for (`refcheck`, `batch`, `batch run --help`, `help batch run`),
 * as the build prepared it for 80 columns without colours; undefined where oclif has to find out what is meant.
 */
export function preparedHelp(argv: readonly string[], folder: URL): string | undefined {
  const [first] = argv
  if (argv.at(-1) === '--help') return page(folder, argv.slice(0, -1), ['commands', 'topics'])
  if (first === 'help') return page(folder, argv.slice(1), ['commands', 'topics'])
  return page(folder, argv, ['topics'])
}

function page(folder: URL, words: readonly string[], kinds: readonly Kind[]): string | undefined {
  if (!words.every((word) => /^[a-z][a-z-]*$/.test(word))) return undefined
  for (const kind of kinds) {
    try {
      return readFileSync(new URL(helpFile(kind, words), folder), 'utf8')
    } catch {
      // No such page: not of this kind.
    }
  }
  return undefined
}
