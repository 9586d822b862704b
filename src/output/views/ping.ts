import { sanitize } from '../../host/text.ts'
import { styled } from '../terminal.ts'
import type { View } from '../view.ts'

export function pingView(answer: { base_url: string; status: string; latency_ms: number }): View {
  return {
    json: answer,
    text: (terminal) =>
      `${styled(terminal, 'green', 'up')}  ${sanitize(answer.base_url)} answered "${sanitize(answer.status)}" in ${answer.latency_ms} ms`,
  }
}
