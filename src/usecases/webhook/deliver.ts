import { isAccepted } from '../../domain/webhook/delivery.ts'
import type { InboxEvent } from '../../domain/webhook/inbox-event.ts'
import type { Delivered } from '../../domain/webhook/retry.ts'
import type { ProgramRun } from '../../host/run-program.ts'
import { postEvent, type DeliveryOptions } from './post-event.ts'

const forwardPatienceMs = 10_000

export interface DeliverPorts {
  /** Where events are posted to. */
  to: Omit<DeliveryOptions, 'patienceMs'> | undefined
  /** Runs the person's program with the event on its standard input. */
  program: ((event: InboxEvent) => Promise<ProgramRun>) | undefined
}

/** Hands events on: to the URL with their own bytes and signature, then to the program. */
export function delivering({ to, program }: DeliverPorts): (event: InboxEvent) => Promise<Delivered> {
  // Of events that a program refuses after the URL has taken them.
  const posted = new Set<number>()
  return async (event) => {
    let answer = ''
    if (to !== undefined && !posted.has(event.id)) {
      const parcel = { body: event.body, signatures: [event.signature] }
      const reply = await postEvent(parcel, { ...to, patienceMs: forwardPatienceMs })
      answer = reply.failure ?? String(reply.status)
      if (!isAccepted(reply)) return { taken: false, answer }
      posted.add(event.id)
    }
    if (program !== undefined) {
      const ran = await program(event)
      answer = ran.failure ?? `exit ${ran.code}`
      if (ran.code !== 0) return { taken: false, answer }
    }
    posted.delete(event.id)
    return { taken: true, answer }
  }
}
