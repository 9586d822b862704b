import { personWithEmail, shownName, formatCount } from '../wording/text.ts'
import type { Recipient } from '../../contract/request.ts'

/** So few people are named before they are ordered. */
export const maxNamed = 5
/** Characters of a list of people, so that the question is seen whole on 24 lines, also with letters two columns wide. */
const maxListLength = 500

/** A package by its id and, where it is known, its name. */
export interface OrderedPackage {
  id: number
  name?: string | undefined
}

/** What a yes would order. */
export interface AboutToOrder {
  /** None where rows have packages of their own. */
  package: OrderedPackage | undefined
  count: number
  /** The first of them, at least one more than are named. */
  people: readonly (Recipient | undefined)[]
  /** Rows of the same file that are not ordered. */
  leftOut?: number | undefined
  /** Rows with an improbable value, which are listed before. */
  unlikely?: number | undefined
}

/** Where it is ordered, and as whom. */
interface OrderingAs {
  baseUrl: string
  userEmail: string
}

/** The last question before money is spent: it names what is at stake, and who is ordered where they are few, by name and e-mail. */
export function orderQuestion(order: AboutToOrder, { baseUrl, userEmail }: OrderingAs): string {
  const { leftOut = 0, unlikely = 0 } = order
  const what = order.package === undefined ? 'checks' : packageWithName(order.package)
  const service = baseUrl.replace(/^https?:\/\//, '')
  const odd = unlikely === 0 ? '' : `, ${unlikely} with an unlikely value,`
  const left = leftOut === 0 ? '' : `, and leave out ${formatCount(leftOut, 'row')}`
  return `Order ${what} for ${whoOf(order)}${odd} at ${service} as ${userEmail}${left}?`
}

/** `101 Standard employment screen`, or `package 101` where its name is not known. */
export function packageWithName({ id, name }: OrderedPackage): string {
  return name === undefined ? `package ${id}` : `${id} ${shownName(name)}`
}

function whoOf({ count, people }: AboutToOrder): string {
  const known = people.filter((person) => person !== undefined)
  const [only] = known
  if (count === 1 && known.length === 1 && only !== undefined) return personWithEmail(only)
  const isWhole = count <= maxNamed && known.length === count
  const lists = [known.map(personWithEmail), known.map(({ email }) => email)].map((each) => each.join(', '))
  const list = isWhole ? lists.find((each) => each.length <= maxListLength) : undefined
  return `${formatCount(count, 'person', 'people')}${list === undefined ? '' : ` (${list})`}`
}
