import { readFileSync } from 'node:fs'

/** Lines of a document that show a terminal: command lines after `$ `, each with its output. */
export interface Transcript {
  /** Index of its first line, from 0. */
  line: number
  /** Number of lines. */
  length: number
  indent: string
  steps: { command: string; output: string }[]
}

const root = new URL('../../', import.meta.url)

/** Returns the text of a file of the repository. */
export function documentText(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

/** Returns the transcripts of a document: fenced `console` blocks in Markdown, indented `$ ` lines in a help page. */
export function parseTranscripts(text: string): Transcript[] {
  const lines = text.split('\n')
  return lines.includes('```console') ? parseFenced(lines) : parseIndented(lines)
}

function parseFenced(lines: readonly string[]): Transcript[] {
  const transcripts: Transcript[] = []
  let block: string[] | undefined
  for (const [at, line] of lines.entries()) {
    if (line === '```console') block = []
    else if (line === '```' && block !== undefined) {
      transcripts.push({
        line: at - block.length,
        length: block.length,
        indent: '',
        steps: parseSteps(block),
      })
      block = undefined
    } else block?.push(line)
  }
  return transcripts
}

/** Parses a help page, a template literal in which lines indented by four spaces belong to the `$ ` line above them. */
function parseIndented(lines: readonly string[]): Transcript[] {
  const transcripts: Transcript[] = []
  let block: string[] = []
  for (const [at, line] of [...lines, ''].entries()) {
    const isInBlock = line.startsWith('    ') && (block.length > 0 || line.startsWith('    $ '))
    if (isInBlock) block.push(line.slice(4).replaceAll('\\`', '`').replaceAll('\\\\', '\\'))
    else if (block.length > 0) {
      transcripts.push({
        line: at - block.length,
        length: block.length,
        indent: '    ',
        steps: parseSteps(block),
      })
      block = []
    }
  }
  return transcripts
}

/** Splits a block into steps. A command line that ends with a backslash continues on the next line. */
function parseSteps(block: readonly string[]): Transcript['steps'] {
  const steps: Transcript['steps'] = []
  let isContinued = false
  for (const line of block) {
    const last = steps.at(-1)
    if (isContinued && last !== undefined) last.command += `\n${line}`
    else if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: '' })
    else if (last !== undefined) last.output += `${line}\n`
    isContinued = line.endsWith('\\') && (isContinued || line.startsWith('$ '))
  }
  return steps
}

/** Replaces the outputs in a document by those of `all`. */
export function replaceOutputs(text: string, all: readonly Transcript[]): string {
  const lines = text.split('\n')
  for (const { line, length, indent, steps } of all.toReversed()) {
    const documentLines = steps.flatMap(({ command, output }) =>
      `$ ${command}\n${output}`.replace(/\n$/, '').split('\n'),
    )
    const newLines =
      indent === ''
        ? documentLines
        : documentLines.map((each) => (each === '' ? '' : indent + escapeLine(each)))
    lines.splice(line, length, ...newLines)
  }
  return lines.join('\n')
}

/** Escapes a line for a template literal. */
const escapeLine = (line: string): string =>
  line.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')

/** Joins the lines of a command line that a backslash continues. */
export function oneLine(command: string): string {
  return command.replaceAll(/\s*\\\n\s*/g, ' ')
}

/** Kinds of text that differ from run to run. */
const varyingKinds: readonly [kind: string, pattern: string][] = [
  ['id', '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'],
  ['digest', '\\b[0-9a-f]{64}\\b'],
  ['short', '(?<![\\w-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8}(?![\\w-])|(?<=_)[0-9a-f]{8}(?=\\.pdf)'],
  ['code', '\\b[B-X]{4}-[B-X]{4}\\b'],
  ['referee', '(?<=referee |--referee )\\d+'],
  ['port', '(?<=127\\.0\\.0\\.1:|localhost:)\\d+'],
  ['time', '\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?:Z| [+-]\\d\\d:\\d\\d| UTC)?'],
  ['day', '\\d{4}-\\d\\d-\\d\\d'],
  ['clock', '(?<=^|\\n)\\d\\d:\\d\\d:\\d\\d'],
  ['measure', '\\b\\d+(?:\\.\\d+)?(?= (?:ms|B|kB|MB)\\b)'],
  ['version', '\\b\\d+\\.\\d+\\.\\d+\\b'],
]
const varyingText = new RegExp(varyingKinds.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'g')
/** Kinds of text that identify the same thing wherever they occur in the document. */
const namedKinds = new Set(['id', 'digest', 'short', 'code', 'referee'])

/** Maps ids that a document shows to the actual ids of this run, and back. */
export class Ids {
  readonly #actual = new Map<string, string>()
  readonly #shown = new Map<string, string>()

  /** Replaces the document's ids in a command line by those of this run. */
  toActual(command: string): string {
    return replaceIds(command, (id) => this.#actual.get(id) ?? id)
  }

  /** Replaces the ids of this run in an output by those of the document. */
  toShown(output: string): string {
    return replaceIds(output, (id) => this.#shown.get(id) ?? id)
  }

  /**
   * Returns whether the document's output matches the printed one, apart from ids, times, sizes and `…`. If it does, the
   * ids of both are paired.
   */
  addPairsIfSame(shown: string, printed: string): boolean {
    const { pattern, ids } = createPattern(shown)
    const match = pattern.exec(printed)
    if (match === null) return false
    const pairs = ids.map((id, at) => [id, match.groups?.[`v${at}`] ?? ''] as const)
    const isSame = pairs.every(
      ([id, actual]) => (this.#actual.get(id) ?? actual) === actual && (this.#shown.get(actual) ?? id) === id,
    )
    if (isSame) for (const [id, actual] of pairs) this.addPair(id, actual)
    return isSame
  }

  /** Pairs the new ids of both outputs in the order in which they occur; for outputs that differ in other text too. */
  addPairsInOrder(shown: string, printed: string): void {
    const findNewIds = (text: string, knownIds: ReadonlyMap<string, string>): string[] =>
      [
        ...new Set(
          [...text.matchAll(varyingText)]
            .filter(({ groups }) => groups?.['id'] ?? groups?.['digest'])
            .map(([id]) => id),
        ),
      ].filter((id) => !knownIds.has(id))
    const newIds = findNewIds(printed, this.#shown)
    for (const [at, id] of findNewIds(shown, this.#actual).entries()) {
      const actual = newIds[at]
      if (actual !== undefined) this.addPair(id, actual)
    }
  }

  addPair(id: string, actual: string): void {
    this.#actual.set(id, actual)
    this.#shown.set(actual, id)
    if (id.length === 36 && !this.#actual.has(id.slice(0, 8)))
      this.addPair(id.slice(0, 8), actual.slice(0, 8))
  }
}

/** Replaces each id, digest, code or other identifier in a text by the result of `replace`. */
function replaceIds(text: string, replace: (id: string) => string): string {
  return text.replace(varyingText, (whole, ...parts) => {
    const groups = parts.at(-1) as Record<string, string | undefined>
    return [...namedKinds].some((kind) => groups[kind] !== undefined) ? replace(whole) : whole
  })
}

/**
 * Returns a pattern that matches an output of the document with other varying text; `…` matches any text, and a line
 * with only `…` matches any lines. The group `vN` matches the actual form of `ids[N]`.
 */
function createPattern(shown: string): { pattern: RegExp; ids: string[] } {
  const ids: string[] = []
  const patternFor = (kind: string, text: string): string => {
    const pattern = varyingKinds.find(([name]) => name === kind)?.[1] ?? ''
    if (!namedKinds.has(kind)) return `(?:${pattern})`
    const knownIndex = ids.indexOf(text)
    if (knownIndex !== -1) return `\\k<v${knownIndex}>`
    ids.push(text)
    return `(?<v${ids.length - 1}>${pattern})`
  }
  let source = ''
  let end = 0
  for (const match of shown.matchAll(varyingText)) {
    source += escapeFixedText(shown.slice(end, match.index))
    const [kind = '', text = ''] =
      Object.entries(match.groups ?? {}).find(([, each]) => each !== undefined) ?? []
    source += patternFor(kind, text)
    end = match.index + text.length
  }
  source += escapeFixedText(shown.slice(end))
  return { pattern: new RegExp(`^${source}$`), ids }
}

/** Escapes fixed text for a pattern. Blanks match any number of blanks, because varying text sets the width. */
function escapeFixedText(text: string): string {
  return text
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(/(?<=^|\n)…\n/g, '(?:[^\\n]*\\n)*?')
    .replaceAll('…', '.*?')
    .replaceAll(/ {2,}/g, ' {2,}')
}
