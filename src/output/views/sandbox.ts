import type * as schemas from '../schemas/integration.ts'
import { localClock, localTime } from '../../domain/wording/time.ts'
import { sanitize } from '../../host/text.ts'
import { styled, type Terminal, styledStatus } from '../terminal.ts'
import type { ListView, View, JsonOf } from '../view.ts'

/** Shows the variables that a client of a running sandbox needs, as lines to paste into another terminal. */
export function sandboxView(address: JsonOf<typeof schemas.address>, profile: string | undefined): View {
  return {
    json: address,
    text: (terminal) =>
      [
        `The sandbox is running at ${styled(terminal, 'bold', address.base_url)} (Ctrl-C stops it).`,
        '',
        profile === undefined
          ? 'In another terminal:'
          : `Profile "${profile}" is logged in to it, and in use. To call it without a profile:`,
        '',
        `  export REFCHECK_BASE_URL=${address.base_url}`,
        `  export REFCHECK_API_KEY=${address.api_key}`,
        `  export REFCHECK_USER_EMAIL=${address.user_email}`,
        `  export REFCHECK_WEBHOOK_SECRET=${address.webhook_secret}`,
        ...(address.control_token === undefined
          ? []
          : [`  export REFCHECK_SANDBOX_TOKEN=${address.control_token}`]),
        '',
        'Then try: refcheck packages list',
      ].join('\n'),
    // A wrapped line that sets a variable could not be pasted.
    isVerbatim: true,
  }
}

/** Prints only the key, so that it can be piped. */
export function renewedKeyView(key: string): View {
  return { json: { api_key: key }, text: () => key }
}

export type Redelivered = JsonOf<typeof schemas.redelivered>

export function redeliveredView(redelivered: Redelivered): View {
  const { request_id, status, outcome } = redelivered
  const answerText = /^\d{3}$/.test(outcome ?? '') ? `it was answered ${outcome}` : sanitize(outcome ?? '')
  const outcomeText = outcome === null ? 'it is still under way' : answerText
  return {
    json: redelivered,
    text: () => `${sanitize(status)} of request ${sanitize(request_id)} was sent once more: ${outcomeText}`,
  }
}

/** The state that a running sandbox reports. */
export type SandboxState = JsonOf<typeof schemas.state>

export function sandboxStateView(state: SandboxState): View {
  return {
    json: state,
    text: () => {
      const { requests, deliveries, quota } = state
      const counts = Object.entries(requests).filter(([, count]) => count > 0)
      return [
        `time        ${localTime(state.now)} (${sanitize(state.clock)} clock)`,
        `requests    ${counts.map(([status, count]) => `${count} ${status}`).join(', ') || 'none'}`,
        `deliveries  ${deliveries.delivered} delivered, ${deliveries.waiting} waiting, ${deliveries.given_up} given up`,
        `quota       ${quota.map(({ used, calls, seconds }) => `${used} of ${calls} in ${seconds} s`).join(', ')}`,
      ].join('\n')
    },
  }
}

/** Shows the stories: each is a course of one request that `sandbox trigger` plays with its events. */
export function storiesView(
  stories: readonly { name: string; what: string }[],
): ListView<{ story: string; what: string }> {
  return {
    rows: stories.map(({ name: story, what: about }) => ({ story, what: about })),
    columns: [{ name: 'story' }, { name: 'what' }],
    empty: 'No stories.',
  }
}

type PlayedStory = JsonOf<typeof schemas.story>
type PlayedDelivery = PlayedStory['deliveries'][number]

/** Shows a played story. `isRight` returns true if the receiver answered a delivery as the API document requires. */
export function storyView(played: PlayedStory, isRight: (delivery: PlayedDelivery) => boolean): View {
  const deliveryLine = (delivery: PlayedDelivery, terminal: Terminal): string => {
    const { status, signature, http_status: answer, failure, ms } = delivery
    const style = isRight(delivery) ? 'green' : 'red'
    const answerText = answer === null ? (failure ?? 'no answer') : `answered ${answer}`
    const signatureText = signature === 'bad' ? ', bad signature' : ''
    return `${styledStatus(terminal, status)}${signatureText}: ${styled(terminal, style, sanitize(answerText))} after ${ms} ms`
  }
  return {
    json: played,
    text: (terminal) =>
      [
        `Story "${sanitize(played.story)}" of request ${sanitize(played.request_id)}`,
        ...played.deliveries.map((each) => deliveryLine(each, terminal)),
      ].join('\n'),
  }
}

export function scenariosView(
  scenarios: JsonOf<typeof schemas.scenarios>,
): ListView<JsonOf<typeof schemas.scenarios>[number]> {
  return {
    rows: scenarios,
    columns: [{ name: 'tag', show: (row) => `+${row.tag}` }, { name: 'changes' }, { name: 'what' }],
    empty: 'No scenarios.',
  }
}

export type RuleRow = JsonOf<typeof schemas.rules>[number]

export function rulesView(rules: readonly RuleRow[]): ListView<RuleRow> {
  return {
    rows: rules,
    columns: [
      { name: 'name' },
      { name: 'current' },
      { name: 'choices', value: (row) => row.choices.join(' | ') },
      { name: 'open' },
      { name: 'section', extra: true },
      { name: 'sentence', extra: true },
    ],
    empty: 'No rules.',
  }
}

type WithTime<Entry> = Entry extends unknown ? Omit<Entry, 'at'> & { at: number } : never

/** An entry of the log of a sandbox. `at` is in milliseconds since the epoch. */
export type LogRow = WithTime<JsonOf<typeof schemas.logEntry>>

/** Shows the log of a sandbox. `isFiltered` is true if flags of the command selected the rows. */
export function logView(rows: readonly LogRow[], isFiltered = false): View {
  const emptyText = isFiltered
    ? 'Nothing of this has happened. Show everything with: refcheck sandbox logs'
    : 'Nothing has happened yet. Follow it with: refcheck sandbox logs --follow'
  return {
    json: rows.map(rowJson),
    text: (terminal) =>
      rows.length === 0 ? emptyText : rows.map((row) => rowText(row, terminal)).join('\n'),
    ...(rows.length > 0 && { isVerbatim: true }),
  }
}

export function logRowView(row: LogRow): View {
  return { json: rowJson(row), text: (terminal) => rowText(row, terminal), isVerbatim: true }
}

const rowJson = (row: LogRow): object => ({ ...row, at: new Date(row.at).toISOString() })

function rowText(row: LogRow, terminal: Terminal): string {
  return [`${localClock(row.at)}  ${eventText(row, terminal)}`, ...bodyLines(row)].join('\n')
}

/** Returns the body of the request of a call or delivery after `>`, and the body of its response after `<`. */
function bodyLines(row: LogRow): string[] {
  if (row.kind !== 'call' && row.kind !== 'delivery') return []
  const { request, response } = row
  return [
    ...(request?.body ? [`    > ${sanitize(request.body)}`] : []),
    ...(response?.body ? [`    < ${sanitize(response.body)}`] : []),
  ]
}

function eventText(row: LogRow, terminal: Terminal): string {
  switch (row.kind) {
    case 'call': {
      const fault = row.fault === null ? '' : ` (fault: ${sanitize(row.fault)})`
      return `${sanitize(row.method)} ${sanitize(row.path)}  ${row.status ?? 'no answer'}${fault}`
    }
    case 'status':
      return `request ${sanitize(row.request_id)}  ${styledStatus(terminal, row.status)}`
    case 'delivery': {
      const attempt = row.attempt === 1 ? '' : ` (attempt ${row.attempt})`
      return `event ${sanitize(row.delivery_id)}  ${styledStatus(terminal, row.status)}: ${sanitize(row.outcome)}${attempt}`
    }
    case 'failure':
      return `failed: ${sanitize(row.message)}`
  }
}
