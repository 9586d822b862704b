import type { RefcheckError } from '../../errors/base.ts'

export interface SentDelivery {
  request_id: string
  status: string
  signature: 'good' | 'bad'
  /** HTTP status of the answer; null where none came. */
  answered: number | null
  milliseconds: number
  accepted: boolean
  /** The beginning of what it answered, or why no answer came. */
  said: string
}

export interface DeliveryPlan {
  to: string
  deliveries: SentDelivery[]
  failure: RefcheckError | undefined
}
