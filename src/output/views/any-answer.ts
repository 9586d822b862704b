import { jsonText, type View } from '../view.ts'
import { sanitize } from '../../host/text.ts'

interface Answered {
  status: number
  headers: Readonly<Record<string, string | readonly string[] | undefined>>
  body: unknown
}

/** An answer of the service as it is; with `include` its status and headers before it. */
export function anyAnswerView({ status, headers, body }: Answered, include: boolean): View {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => sanitize(`${name}: ${each}`)),
  )
  return {
    isVerbatim: true,
    json: include ? { status, headers, body } : body,
    text: () => {
      const head = include ? `${[`HTTP ${status}`, ...lines].join('\n')}\n\n` : ''
      return head + sanitize(jsonText(body, 2), { lines: true })
    },
  }
}
