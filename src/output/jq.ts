import { sanitize } from '../host/text.ts'
import { UsageError } from '../errors/kinds.ts'

/** The output of a jq filter for a JSON document. */
export interface JqResult {
  /** The results of the filter, one per line. */
  text: string
  /** The error message of jq if the filter did not run to its end. */
  problem: string | undefined
}

/**
 * Returns a function that runs jq with `expression` on a JSON document. Throws a UsageError if `expression`
 * is not valid. Strings are printed without quotes. If `isForTerminal` is true, line breaks, control
 * characters and invisible characters are replaced by visible marks, so that each result stays on its line.
 */
export async function jqFilter(
  expression: string,
): Promise<(document: string, isForTerminal?: boolean) => JqResult> {
  const { loadJq } = await import('jq-wasm')
  const jq = await loadJq()
  const run = (document: string, isForTerminal = false): JqResult => {
    const { stdout, stderr, exitCode } = jq.raw(document, expression, [
      '--compact-output',
      ...(isForTerminal ? [] : ['--raw-output']),
      '--',
    ])
    const results = isForTerminal ? stdout.split('\n').map(sanitizeResult).join('\n') : stdout
    return {
      text: stdout === '' ? '' : `${results}\n`,
      problem: exitCode === 0 ? undefined : problemOf(stderr),
    }
  }
  // An empty document has no results, so this run only compiles the expression.
  const { problem } = run('')
  if (problem !== undefined) {
    throw new UsageError(`--jq: ${problem}`, {
      hint: "Nothing was done. Quote the expression, as in: --jq '.[].request_id'",
    })
  }
  return run
}

/** Sanitizes a result line that jq printed without --raw-output, where a string is in quotes. */
function sanitizeResult(line: string): string {
  return sanitize(line.startsWith('"') ? String(JSON.parse(line)) : line, {
    keepsLayout: true,
    marksLineBreaks: true,
  })
}

/** Returns the first line of jq's error message, without the prefix `jq: error (at <file>):`. */
function problemOf(stderr: string): string {
  const [line = ''] = stderr.split('\n', 1)
  return (
    line.replace(/^jq: (?:error)?:? ?(?:\(at [^)]*\): )?/, '').replace(/ at <top-level>.*$/, '') || 'stopped'
  )
}
