/** A course of one request, and how its events reach a receiver: what `sandbox trigger` plays. */
export interface Story {
  name: string
  what: string
  /** Tags of the scenario table that the request follows. */
  scenarios: readonly string[]
  /** The request stays at this status; else it goes on to a terminal one. */
  until?: 'PARTIAL'
  /** `at-once`: each when it happens; `late`: all after the last change of status; `reversed`: those, the last one first. */
  order: 'at-once' | 'late' | 'reversed'
  /** How each event is signed, a delivery each; a bad signature is of another secret. */
  signatures: readonly ('good' | 'bad')[]
}

const usual = { scenarios: [], order: 'at-once', signatures: ['good'] } as const

/** Every story. */
export const storyTable: readonly Story[] = [
  { ...usual, name: 'completed', what: 'IN_PROGRESS, PARTIAL, then COMPLETED, each event when it happens.' },
  {
    ...usual,
    name: 'partial',
    what: 'IN_PROGRESS, then PARTIAL: one check is COMPLETED, the others stay in progress.',
    until: 'PARTIAL',
  },
  {
    ...usual,
    name: 'error',
    what: 'IN_PROGRESS, then ERROR with an error_reason.',
    scenarios: ['error'],
  },
  {
    ...usual,
    name: 'cancelled',
    what: 'IN_PROGRESS, then CANCELLED: the recipient declines.',
    scenarios: ['declined'],
  },
  {
    ...usual,
    name: 'out-of-order',
    what: 'The request is COMPLETED; its events arrive in reverse, COMPLETED first.',
    order: 'reversed',
  },
  {
    ...usual,
    name: 'repeated',
    what: 'Each event of a COMPLETED request is delivered twice.',
    signatures: ['good', 'good'],
  },
  {
    ...usual,
    name: 'late',
    what: 'The request is COMPLETED before the first of its events arrives.',
    order: 'late',
  },
  {
    ...usual,
    name: 'forged',
    what: 'Before each event the same with a signature that does not match; the receiver has to refuse it.',
    signatures: ['bad', 'good'],
  },
]
