import type { FieldProblem, RefcheckError } from '../errors/base.ts'
import { sanitize } from '../host/text.ts'
import { wrapped } from './format.ts'
import { styled, type Terminal } from './terminal.ts'

/** The `error` object of src/docs/cli.md, "Streams"; keys that do not apply are left out. */
export function failureJson(error: RefcheckError): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({
      code: error.code,
      message: error.message,
      hint: error.hint,
      status: error.status,
      field: error.field,
      retry_after: error.retryAfter,
      request_id: error.order?.requestId,
      batch_id: error.order?.batchId,
      row: error.order?.row,
      match: error.order?.match,
      problems: several(error)?.map(({ field, value, problem }) => ({ field, value, problem })),
    }).filter(([, value]) => value !== undefined),
  )
}

/** What went wrong as one line, for stderr where the document on stdout has all of it. */
export function failureLine(error: RefcheckError, terminal: Terminal): string {
  const [first = ''] = error.code === 'interrupted' ? lines(error) : [`Error: ${sanitize(error.message)}`]
  return `${styledHead(first, error, terminal)}\n`
}

/**
 * What went wrong, several problems one a line, and what to do. Leaving on purpose is no error; where all that is left undone
 * was chosen, the answer has said so, and what can be done is left to say.
 */
export function failureText(error: RefcheckError, terminal: Terminal): string {
  const wrappedLines = lines(error).map((line) => wrapped(line, terminal.columns))
  const [first = '', ...rest] = error.isChosen ? [] : wrappedLines
  const head = styledHead(first, error, terminal)
  const hint =
    error.hint === undefined
      ? []
      : wrapped(sanitize(error.hint, { lines: true }), terminal.columns).split('\n')
  return [...(error.isChosen ? [] : [head]), ...rest, ...hint.map((line) => styled(terminal, 'dim', line))]
    .map((line) => `${line}\n`)
    .join('')
}

function styledHead(first: string, { code }: RefcheckError, terminal: Terminal): string {
  return code === 'interrupted' ? first : first.replace(/^Error:/, styled(terminal, 'red', 'Error:'))
}

function lines(error: RefcheckError): string[] {
  if (error.code === 'interrupted') return [sanitize(capitalised(error.message))]
  const problems = several(error)
  if (problems === undefined) return [`Error: ${sanitize(error.message)}`]
  const [head = ''] = error.message.split(': ', 1)
  return [`Error: ${sanitize(head)}`, ...problems.map(({ text }) => `  ${sanitize(text)}`)]
}

function several({ problems = [] }: RefcheckError): readonly FieldProblem[] | undefined {
  return problems.length > 1 ? problems : undefined
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
