import type { DeliveryPlan, SentDelivery } from '../../domain/webhook/delivery.ts'
import { sanitize } from '../../host/text.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

/** A line a delivery: what it was, what the receiver answered and how fast. */
export function sendingView({ to, deliveries }: DeliveryPlan): View {
  return {
    json: { to, deliveries },
    text: (terminal) => deliveries.map((each) => line(each, terminal)).join('\n'),
  }
}

function line(delivery: SentDelivery, terminal: Terminal): string {
  const { answered, accepted, signature, milliseconds, request_id, status, said } = delivery
  const isRight = accepted === (signature === 'good')
  const word = answered === null ? 'no answer' : accepted ? 'accepted' : 'refused'
  const verdict = styled(terminal, isRight ? 'green' : 'red', word)
  const forged = signature === 'bad' ? '  bad signature' : ''
  const quoted = accepted || said === '' ? '' : `  "${said}"`
  const answer = answered === null ? `${milliseconds} ms` : `${answered} in ${milliseconds} ms`
  return `${verdict}  ${answer}  ${sanitize(`${request_id}  ${status}${forged}${quoted}`, { layout: true })}`
}
