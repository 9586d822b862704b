/** Source files that become one file of dist together with their imports. */
export interface Group {
  name: string
  /** Paths below src without extension, where `*` is any name. */
  sources?: readonly string[]
  /** Name of a library that is included as a whole. */
  library?: string
  priority?: number
}

/**
 * Modules that are always loaded together form one file, because opening a file takes longer than running its code. A
 * group also contains the modules that its modules import. Each path must match a file.
 */
export const groups: readonly Group[] = [
  { name: 'zod', library: 'zod', priority: 2 },
  {
    name: 'core',
    sources: [
      'cli/main',
      'cli/base-command',
      'errors/*',
      'host/clock',
      'contract/url',
      'contract/parse-json',
      'host/text',
      'domain/session/session',
      // These modules are a few lines each; as separate shared files, loading them would cost more than running them.
      'cli/flags/values',
      'cli/flags/list',
      'app/app',
      'contract/statuses',
      'domain/submission/states',
      'domain/webhook/delivery',
      'domain/wording/*',
      'host/process',
      'output/views/events',
      'output/terminal',
    ],
    priority: 1,
  },
  {
    name: 'settings',
    sources: ['store/config/settings', 'store/config/secrets', 'usecases/session/chosen-profile'],
    priority: 1,
  },
  { name: 'session', sources: ['usecases/session/resolve'] },
  { name: 'wire', sources: ['http/client', 'api/api'] },
  // Commands that do not call the service check these shapes too.
  {
    name: 'shapes',
    sources: ['contract/package', 'contract/package-schema', 'contract/request', 'contract/user'],
    priority: 1,
  },
  { name: 'ledger', sources: ['store/ledger/open', 'usecases/quota/governor', 'domain/quota/windows'] },
]

/** Returns the patterns of a group, each with a RegExp that matches module ids. */
export function patternsOf({ sources = [], library }: Group): { pattern: string; test: RegExp }[] {
  return [
    ...sources.map((path) => ({
      pattern: `src/${path}.ts`,
      test: new RegExp(`/src/${path.replaceAll('*', '[^/]+')}\\.ts$`),
    })),
    ...(library === undefined
      ? []
      : [{ pattern: `node_modules/${library}`, test: new RegExp(`/node_modules/${library}/`) }]),
  ]
}

/** Returns a RegExp that matches the ids of the modules of a group, for the bundler. */
export function groupPattern(group: Group): RegExp {
  return new RegExp(
    patternsOf(group)
      .map(({ test }) => `(?:${test.source})`)
      .join('|'),
  )
}

/** Throws an `Error` with each pattern of a group that no module of the program matches. */
export function requireMatchedPatterns(moduleIds: readonly string[]): void {
  const unmatched = groups.flatMap((group) =>
    patternsOf(group)
      .filter(({ test }) => !moduleIds.some((id) => test.test(id)))
      .map(({ pattern }) => `${pattern} (group ${group.name})`),
  )
  if (unmatched.length > 0) throw new Error(`no module of the program is ${unmatched.join(', ')}`)
}
