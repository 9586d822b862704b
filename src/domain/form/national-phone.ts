import type { Change } from './problem.ts'

/** A national number in E.164, or undefined where it is none of that country's. */
export type PhoneRepair = (text: string) => string | undefined

/** A number without + as the country has it; any other text as it is. */
export function repaired(text: string, repair: PhoneRepair | undefined): string {
  return text.trimStart().startsWith('+') ? text : (repair?.(text) ?? text)
}

/** A body whose recipient's phone is read as a national number, and what was changed. Anything else is left as it is. */
export function withNationalPhone<T>(
  body: T,
  repair: PhoneRepair | undefined,
): { body: T; changes: Change[] } {
  const recipient = namesIn(namesIn(body)?.['recipient'])
  const phone = recipient?.['phone']
  if (repair === undefined || typeof phone !== 'string') return { body, changes: [] }
  const to = repaired(phone, repair)
  if (to === phone) return { body, changes: [] }
  const change = { path: 'recipient.phone', column: 'phone', from: phone, to }
  return { body: { ...body, recipient: { ...recipient, phone: to } }, changes: [change] }
}

function namesIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.assign(Object.create(null) as Record<string, unknown>, value)
    : undefined
}
