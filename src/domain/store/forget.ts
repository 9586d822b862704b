import { UsageError } from '../../errors/kinds.ts'
import type { Forgotten } from './told.ts'

/** Whom a purge is about; a UsageError where nobody is named. */
export function forgotten(given: {
  email: string | undefined
  requestId: string | undefined
  endedBefore: number | undefined
}): Forgotten {
  const { email, requestId, endedBefore } = given
  if (email !== undefined) return { email: email.trim() }
  if (requestId !== undefined) return { requestId }
  if (endedBefore !== undefined) return { endedBefore }
  throw new UsageError('whose data is to be removed is not said', {
    hint: 'Give --email EMAIL, --request-id UUID, or --older-than 365d.',
  })
}
