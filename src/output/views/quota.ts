import type { WindowStanding } from '../../domain/quota/book.ts'
import { bar } from '../bar.ts'
import { type Style, styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'
import { durationInWords } from '../duration.ts'

export interface QuotaStanding {
  windows: readonly WindowStanding[]
  notBefore: number
}

/** The windows of a key at `now` (wall time in ms). */
export function quotaView(quota: QuotaStanding, now: number): View {
  return {
    json: quotaJson(quota, now),
    text: (terminal) => {
      const told = quota.windows.filter(({ learnt }) => learnt)
      const said = told.map(
        ({ seconds }) => `The window of ${durationInWords(seconds)} is as the service reported it.`,
      )
      return [
        'Calls to the service',
        ...quotaLines(quota, now, terminal),
        ...(said.length === 0 ? [] : ['', ...said]),
      ].join('\n')
    },
  }
}

export function quotaJson({ windows, notBefore }: QuotaStanding, now: number) {
  return {
    windows: windows.map(({ calls, seconds, used, left, resetsAt, learnt }) => ({
      calls,
      seconds,
      used,
      left,
      resets_at: used === 0 ? null : new Date(resetsAt).toISOString(),
      learnt,
    })),
    not_before: notBefore > now ? new Date(notBefore).toISOString() : null,
  }
}

/** A bar for each window, and a line where the service refuses calls. */
export function quotaLines({ windows, notBefore }: QuotaStanding, now: number, terminal: Terminal): string[] {
  const names = windows.map(({ calls, seconds }) => `${calls} in ${durationInWords(seconds)}`)
  const width = (texts: readonly (string | number)[]): number =>
    Math.max(...texts.map((text) => String(text).length))
  const [nameWidth, usedWidth, leftWidth] = [
    width(names),
    width(windows.map(({ used }) => used)),
    width(windows.map(({ left }) => left)),
  ]
  const lines = windows.map(({ calls, seconds, used, left, resetsAt }, at) => {
    // Calls are counted as if they arrived late; nobody waits longer than the window.
    const rest = Math.min(seconds, (resetsAt - now) / 1000)
    const again = used === 0 ? '' : `, free again in ${durationInWords(rest)}`
    const drawn = styled(terminal, fullness(used / calls), bar(used / calls))
    const counts = `${String(used).padStart(usedWidth)} used, ${String(left).padStart(leftWidth)} left`
    return `${(names[at] ?? '').padEnd(nameWidth)}  ${drawn}  ${counts}${again}`
  })
  if (notBefore <= now) return lines
  return [...lines, '', `The service refuses calls for another ${durationInWords((notBefore - now) / 1000)}.`]
}

function fullness(part: number): Style {
  if (part >= 0.95) return 'red'
  return part >= 0.75 ? 'yellow' : 'green'
}
