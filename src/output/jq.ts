import { sanitize } from '../host/text.ts'
import { UsageError } from '../errors/kinds.ts'

/** What a filter makes of a JSON document: its results, a line each, and why it came to no end. */
export interface Filtered {
  text: string
  problem: string | undefined
}

/**
 * jq itself, with `expression` in it; a UsageError where that is no jq. Strings come out raw; where they are shown on a
 * terminal, what it would obey and what would not be seen are marks, line breaks too, and each result stays on its line.
 */
export async function jqFilter(
  expression: string,
): Promise<(document: string, isShown?: boolean) => Filtered> {
  const { loadJq } = await import('jq-wasm/inline')
  const jq = await loadJq()
  const run = (document: string, isShown = false): Filtered => {
    const { stdout, stderr, exitCode } = jq.raw(document, expression, [
      '--compact-output',
      ...(isShown ? [] : ['--raw-output']),
      '--',
    ])
    const results = isShown ? stdout.split('\n').map(shownResult).join('\n') : stdout
    return {
      text: stdout === '' ? '' : `${results}\n`,
      problem: exitCode === 0 ? undefined : problemOf(stderr),
    }
  }
  // Of nothing nothing is made: this only compiles.
  const { problem } = run('')
  if (problem !== undefined) {
    throw new UsageError(`--jq: ${problem}`, {
      hint: "Nothing was done. Quote the expression, as in: --jq '.[].request_id'",
    })
  }
  return run
}

/** A result as it is printed without --raw-output: a string in quotes. */
function shownResult(line: string): string {
  return sanitize(line.startsWith('"') ? String(JSON.parse(line)) : line, { layout: true, marksLines: true })
}

/** jq's first line without its own name and the position in a file that does not exist. */
function problemOf(stderr: string): string {
  const [line = ''] = stderr.split('\n', 1)
  return (
    line.replace(/^jq: (?:error)?:? ?(?:\(at [^)]*\): )?/, '').replace(/ at <top-level>.*$/, '') || 'stopped'
  )
}
