import { AssertionError } from 'node:assert'

/** What was ordered, as a test compares it. */
export interface SandboxOrder {
  package_id: number
  recipient: Readonly<{ first_name: string; last_name: string; email: string; phone: string }>
  additional_information: readonly { code: string; fields: Readonly<Record<string, unknown>> }[]
}

/** The parts of an order that a test cares about; what is left out may be anything. */
export interface ExpectedOrder {
  package_id?: number | undefined
  recipient?: Partial<Record<'first_name' | 'last_name' | 'email' | 'phone', string>> | undefined
  additional_information?: readonly { code: string; fields: Readonly<Record<string, unknown>> }[] | undefined
}

/**
 * Throws an AssertionError unless exactly these orders were placed, in this order. What an expected order leaves out
 * may be anything. The message has a line for each difference; `actual` and `expected` are there for test frameworks.
 */
export function expectOrders(orders: readonly SandboxOrder[], expected: readonly ExpectedOrder[]): void {
  const actual = orders.map(({ package_id, recipient, additional_information }) => ({
    package_id,
    recipient,
    additional_information,
  }))
  const lines = Array.from({ length: Math.max(actual.length, expected.length) }, (_, index) =>
    compare(index + 1, actual[index], expected[index]),
  ).flat()
  if (lines.length === 0) return
  const message = [
    `expected ${counted(expected.length)}, the sandbox has ${counted(actual.length)}:`,
    ...lines.map((line) => `  ${line}`),
  ].join('\n')
  throw new AssertionError({ message, actual, expected, operator: 'expectOrdered' })
}

const counted = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

function compare(
  number: number,
  actual: SandboxOrder | undefined,
  expected: ExpectedOrder | undefined,
): string[] {
  if (expected === undefined) return [`order ${number}: not expected: ${JSON.stringify(actual)}`]
  if (actual === undefined) return [`order ${number}: missing: ${JSON.stringify(expected)}`]
  return differences(`order ${number}`, actual, expected)
}

/** Lists are compared whole, objects by the keys that are expected. */
function differences(path: string, actual: unknown, expected: unknown): string[] {
  if (expected === undefined) return []
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((each, index) => differences(`${path}[${index}]`, actual[index], each))
  }
  if (isObject(expected) && isObject(actual)) {
    return Object.entries(expected).flatMap(([key, value]) =>
      differences(`${path}.${key}`.replace(/^(order \d+)\./, '$1: '), actual[key], value),
    )
  }
  if (Object.is(actual, expected)) return []
  return [`${path}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(actual) ?? 'missing'}`]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
