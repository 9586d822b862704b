import { personWithEmail, shownName, formatCount } from '../wording/text.ts'
import type { Recipient } from '../../contract/request.ts'

/** The maximum number of people whom the question before an order names. */
export const maxNamed = 5
/**
 * The maximum length of the list of people in characters, so that the whole question fits on 24 lines, even with
 * characters two columns wide.
 */
const maxListLength = 500

/** A package with its id and its name, if the name is known. */
export interface OrderedPackage {
  id: number
  name?: string | undefined
}

/** The order that the question asks to confirm. */
export interface OrderToConfirm {
  /** Undefined if the rows have different packages. */
  package: OrderedPackage | undefined
  count: number
  /** The first people in the order of the file, at most `maxNamed` + 1. An element is undefined if the person was erased. */
  people: readonly (Recipient | undefined)[]
  /** The maximum number of people who are ordered now. */
  max?: number | undefined
  /** The number of rows of the same file that are not ordered. */
  leftOut?: number | undefined
  /** The number of rows with an improbable value, which are listed before the question. */
  unlikely?: number | undefined
  /** Which of the people were ordered under another package; a sentence without its full stop. */
  note?: string | undefined
  /** The numbers of the rows of these people. */
  noteRows?: readonly number[] | undefined
}

/** The service and the user of the order. */
interface OrderingUser {
  baseUrl: string
  userEmail: string
}

/**
 * Returns the last question before money is spent. It names what is ordered, the service and the user, and the people
 * with names and e-mails if there are few.
 */
export function orderQuestion(order: OrderToConfirm, { baseUrl, userEmail }: OrderingUser): string {
  const { leftOut = 0, unlikely = 0 } = order
  const orderedText = order.package === undefined ? 'checks' : packageWithName(order.package)
  const service = baseUrl.replace(/^https?:\/\//, '')
  const unlikelyText = unlikely === 0 ? '' : `, ${unlikely} with an unlikely value,`
  const leftOutText = leftOut === 0 ? '' : `, and leave out ${formatCount(leftOut, 'row')}`
  const noteText = order.note === undefined ? '' : `${order.note}. `
  return `${noteText}Order ${orderedText} for ${peopleText(order)}${unlikelyText} at ${service} as ${userEmail}${leftOutText}?`
}

/** Returns `101 Standard employment screen`, or `package 101` if the name is not known. */
export function packageWithName({ id, name }: OrderedPackage): string {
  return name === undefined ? `package ${id}` : `${id} ${shownName(name)}`
}

function peopleText({ count, people, max = count }: OrderToConfirm): string {
  if (max < count) return `${max} of ${formatCount(count, 'person', 'people')}`
  const namedPeople = people.filter((person) => person !== undefined)
  const [onlyPerson] = namedPeople
  if (count === 1 && namedPeople.length === 1 && onlyPerson !== undefined) return personWithEmail(onlyPerson)
  const canNameAll = count <= maxNamed && namedPeople.length === count
  const lists = [namedPeople.map(personWithEmail), namedPeople.map(({ email }) => email)].map((each) =>
    each.join(', '),
  )
  const list = canNameAll ? lists.find((each) => each.length <= maxListLength) : undefined
  return `${formatCount(count, 'person', 'people')}${list === undefined ? '' : ` (${list})`}`
}
