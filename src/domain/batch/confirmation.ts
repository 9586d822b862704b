import type { Recipient } from '../../contract/request-body.ts'
import { countInWords } from '../wording/count-in-words.ts'

/** So few people are named before they are ordered. */
export const mostNamed = 5

/** The question before orders are sent; it names who is about to be ordered where they are few. */
export function orderQuestion(count: number, people: readonly (Recipient | undefined)[]): string {
  const question = `Order checks for ${countInWords(count, 'person', 'people')}`
  const names = people.flatMap((person) =>
    person === undefined ? [] : `${person.first_name} ${person.last_name}`,
  )
  const isWhole = count <= mostNamed && names.length === count
  return `${question}${isWhole ? `: ${names.join(', ')}` : ''}?`
}
