import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { listDeclarations, type Named, root, type Source, sources } from './sources.ts'

/**
 * Words that are no terms of the field, each with the term to use. A word is one part of a name: `kept` is found in
 * `keptFlags` and `kept-flags.ts`, not in `keptel`.
 */
const words: Record<string, string> = {
  acquaintance: 'verifyOrganisation',
  alike: 'similar',
  begun: 'attempted, started',
  beside: 'next to, as well as',
  doubt: 'ambiguity, unknown outcome',
  doubts: 'ambiguities',
  exam: 'receiver check',
  fate: 'erasurePolicy',
  fates: 'erasurePolicy',
  forgetting: 'erasure',
  forgotten: 'erased',
  gravest: 'precedence, mostSevere',
  graver: 'precedence, mostSevere',
  hasty: 'with short timeouts',
  hear: 'external result',
  heard: 'external result',
  hold: 'lease (database), lock (file)',
  holds: 'contains, has, lease, lock',
  homeless: 'unassigned',
  judged: 'checked, conflictWith',
  kept: 'stored, cached',
  keeping: 'commandFor',
  kin: 'relations',
  knock: 'checkReachable',
  likeness: 'similarity',
  listing: 'attempt log',
  nobody: 'the actor: the user, another process, the service',
  orphan: 'unmatched event',
  orphans: 'unmatched events',
  place: 'path, address, position',
  placed: 'path, address, position',
  places: 'paths, addresses, positions',
  proof: 'evidence',
  prove: 'reconcileByEvidence',
  proves: 'reconcileByEvidence',
  retire: 'purgeExpired',
  retired: 'purged',
  said: 'flag, option, argument',
  saying: 'message, text',
  says: 'is, has, states',
  settle: 'record, reconcile',
  settled: 'recorded, reconciled, finished',
  settlement: 'recorded outcome, reconciliation',
  somebody: 'the actor: the user, another process, the service',
  standing: 'status',
  stands: 'is, position',
  stranger: 'foreign',
  succession: 'successor, predecessor',
  sure: 'certain, resolveAmbiguousCommit',
  surely: 'resolveAmbiguousCommit',
  talk: 'prompts, messages',
  tell: 'report',
  told: 'reported',
  welcome: 'resetLog',
  whoever: 'the actor: the user, another process, the service',
  whom: 'person',
  witness: 'external result',
  witnesses: 'external results',
}

/** Whole names, and beginnings of names, that are no terms of the field. */
const names: [name: RegExp, term: string][] = [
  [/^most(?:$|[A-Z](?!evere))/, 'max…'],
  [/^[Ss]tops(?:Of)?$|^Stop$|^stop(?:Of|Row|Text)$/, 'conflict'],
  [/^(?:try[A-Z]\w*)?[Tt]ake$|^Turn$|^Taken$/, 'claim, ClaimResult'],
  [/^[Ll]ook(?!Up)(?:$|[A-Z])/, 'findConflicts, read, poll, preview'],
  [/^putBacks?$/, 'recoverAttempt, recovered'],
  [/^joined/, 'related, successor'],
  [/^[Nn]otices?$|^onNotice$/, 'message (text), event'],
  [/InWords$/, 'format…'],
  [/^untilWell$|^isWell$/, 'waitUntilHealthy, isHealthy'],
  [/^asksFirst$|^(?:is)?[Pp]aused(?:By|At|_by|_at)?$/, 'circuit breaker'],
  [/^wentBack$|^WentBack/, 'PromptBackError'],
  [/^[Gg]ate$/, 'concurrency limit, Semaphore'],
  [/^[Nn]ews$/, 'WakeableSleep'],
  [/^isGrave$/, 'isDestructive'],
]

/** Phrases of comments. Ordinary words are not among them. */
const phrases: [phrase: RegExp, term: string][] = [
  [/\b(?:told|telling of)\b/i, 'reported'],
  [/\b(?:gravest|graver)\b/i, 'highest precedence, more severe'],
  [/\bkin\b/i, 'relations'],
  [/\bwitness(?:es)?\b/i, 'external result'],
  [/\bheard\b/i, 'read, received'],
  [/\b(?:nobody|whoever|somebody)\b/i, 'the actor: the user, another process, the service'],
  [/\b(?:stands?|stood) in (?:its|the|their|a row.s) way\b/i, 'conflicts with it'],
  [/\bforgotten\b/i, 'erased, discarded'],
  [/\bput back\b/i, 'restored, recovered'],
  [/\bbeside\b/i, 'next to, as well as'],
  [/\bwritten down\b/i, 'recorded'],
  [/\bfates?\b/i, 'erasure policy'],
  [/\bordering protocol\b(?!.{0,3}src)/i, 'src/docs/ordering.md, section N'],
  [/\bcli-contract\b/i, 'a section of src/docs/cli.md'],
]

/** Names that keep a word of the list, each with its reason. */
const exceptions: Record<string, string> = {
  placeOrder: 'to place an order is the usual term',
  keepAliveTimeoutMs: 'the name of node:http',
  notice: 'a field of the log of a worker, which other programs read',
}

/** Keys of `--json` and of the wire are frozen, and types declare them. */
const frozen = new Set(
  readFileSync(join(root, 'test/house/json-keys.txt'), 'utf8')
    .split('\n')
    .flatMap((line) => line.split(/[\s.:[\]?]+/)),
)

const splitName = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)

/** Returns the term to use instead of a name, or undefined if the name is allowed. */
function findTerm({ name, isMember }: Pick<Named, 'name' | 'isMember'>): string | undefined {
  if ((isMember === true && frozen.has(name)) || Object.hasOwn(exceptions, name)) return undefined
  const term = names.find(([pattern]) => pattern.test(name))?.[1]
  if (term !== undefined) return term
  const word = splitName(name).find((part) => Object.hasOwn(words, part))
  return word === undefined ? undefined : words[word]
}

function findViolations(source: Source): string[] {
  const { path, text } = source
  const { names: declared, comments } = listDeclarations(source)
  const lineAt = (start: number): number => text.slice(0, start).split('\n').length
  const titles = [...text.matchAll(/^ *(?:test|it|describe)(?:\.[\w.]+)?\((['`].*)$/gm)]
  const pathViolations = path
    .split('/')
    .slice(2)
    .flatMap((segment) => {
      const term = findTerm({ name: segment.replace(/\.ts$/, '') })
      return term === undefined ? [] : [`${path}: say "${term}" in the name of ${segment}`]
    })
  const nameViolations = declared.flatMap((each) => {
    const term = findTerm(each)
    return term === undefined ? [] : [`${path}:${lineAt(each.start)}: say "${term}" in ${each.name}`]
  })
  const textViolations = [
    ...comments,
    ...titles.map(({ 1: name = '', index }) => ({ name, start: index })),
  ].flatMap(({ name, start }) =>
    phrases
      .filter(([phrase]) => phrase.test(name.replaceAll(/\s+\*?\s*/g, ' ')))
      .map(([phrase, term]) => `${path}:${lineAt(start)}: say "${term}" for ${phrase.source}`),
  )
  return [...pathViolations, ...nameViolations, ...textViolations]
}

test('names, comments and titles use the terms of the field', () => {
  const files = [...sources('src/**/*.ts'), ...sources('test/**/*.ts')].filter(
    ({ path }) => !path.startsWith('test/house/'),
  )
  expect(files.flatMap(findViolations)).toEqual([])
})

test('names are checked by their parts, comments and titles by their phrases, and keys of --json not at all', () => {
  const text = `// Told to whoever asks.
export function keptRows(mostRows: number, { path: place, told }: Options): void {}
interface Kin { kept: string; replaced: string; status: string }
test('an order that nobody sent', () => {})
`
  expect(findViolations({ path: 'test/commands/told.ts', text })).toEqual([
    'test/commands/told.ts: say "reported" in the name of told.ts',
    'test/commands/told.ts:2: say "stored, cached" in keptRows',
    'test/commands/told.ts:2: say "max…" in mostRows',
    'test/commands/told.ts:2: say "path, address, position" in place',
    'test/commands/told.ts:3: say "relations" in Kin',
    'test/commands/told.ts:1: say "reported" for \\b(?:told|telling of)\\b',
    'test/commands/told.ts:1: say "the actor: the user, another process, the service" for \\b(?:nobody|whoever|somebody)\\b',
    'test/commands/told.ts:4: say "the actor: the user, another process, the service" for \\b(?:nobody|whoever|somebody)\\b',
  ])
})

test('every exception is a name that a source declares', () => {
  const declared = new Set(
    sources('src/**/*.ts').flatMap((source) => listDeclarations(source).names.map(({ name }) => name)),
  )
  expect(Object.keys(exceptions).filter((name) => !declared.has(name))).toEqual([])
  expect(Object.keys(exceptions).length).toBeLessThanOrEqual(20)
})
