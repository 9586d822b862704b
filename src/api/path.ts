import { redactArgument } from '../domain/wording/redact-argument.ts'
import { InvalidInputError } from '../errors/kinds.ts'

/**
 * A path with its ids encoded, as a template: apiPath`/v1/requests/${id}`. An id that a URL would read
 * as a step through its folders is refused, so that no id can lead to another resource.
 */
export function apiPath(texts: TemplateStringsArray, ...ids: (string | number)[]): string {
  return texts.reduce((path, text, index) => path + segment(String(ids[index - 1] ?? '')) + text)
}

function segment(id: string): string {
  if (/^\.{0,2}$/.test(id) || !id.isWellFormed()) {
    throw new InvalidInputError(`"${redactArgument(id)}" is not an id`, {
      hint: 'Copy the id as the service shows it.',
    })
  }
  return encodeURIComponent(id)
}
