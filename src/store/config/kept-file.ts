import type { z } from 'zod'

import { issuesInWords } from '../../contract/issue-words.ts'
import { IoError } from '../../errors/kinds.ts'
import { parseJson } from '../../contract/parse-json.ts'

/**
 * The content of a JSON file of ours, checked. A damaged one is an IoError that names it and, where
 * known, the place, and never quotes it: it may hold a secret.
 */
export function parseKept<T>(path: string, text: string, shape: z.ZodType<T>): T {
  let content: unknown
  try {
    content = parseJson(text)
  } catch (error) {
    throw damaged(path, `it is not JSON${placeOf(error)}`)
  }
  const parsed = shape.safeParse(content, issuesInWords)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const place = issue?.path.join('.')
  throw damaged(path, `${place ? `${place}: ` : 'it '}${issue?.message ?? ''}`)
}

/** The place alone: the parser's own message quotes the text. */
function placeOf(error: unknown): string {
  const place = /line \d+ column \d+/.exec(String(error))
  return place === null ? '' : ` (${place[0]})`
}

/** Nothing is ever written over a damaged file. */
export function damaged(path: string, why: string): IoError {
  return new IoError(`"${path}" is damaged: ${why}`, {
    hint: 'It was not changed. Correct it with an editor, or move it away and log in again with: refcheck auth login',
  })
}
