import type { WindowStanding } from '../../domain/quota/book.ts'
import { table } from '../table.ts'
import type { Column, View } from '../view.ts'
import { durationInWords } from './batches.ts'

interface QuotaStanding {
  windows: readonly WindowStanding[]
  notBefore: number
}

/** The windows of a key at `now` (wall time in ms). */
export function quotaView({ windows, notBefore }: QuotaStanding, now: number): View {
  const columns: Column<WindowStanding>[] = [
    { name: 'window', value: ({ calls, seconds }) => `${calls} in ${durationInWords(seconds)}` },
    { name: 'used', value: ({ used }) => used },
    { name: 'left', value: ({ left }) => left },
    {
      name: 'free_again',
      value: ({ resetsAt }) => resetsAt,
      // Calls are counted as if they arrived late; nobody waits longer than the window.
      show: ({ seconds, used, resetsAt }) =>
        used === 0 ? '-' : `in ${durationInWords(Math.min(seconds, (resetsAt - now) / 1000))}`,
    },
    { name: 'known', value: ({ learnt }) => (learnt ? 'as the service reported' : 'as counted here') },
  ]
  const blocked = notBefore > now
  return {
    json: {
      windows: windows.map(({ calls, seconds, used, left, resetsAt, learnt }) => ({
        calls,
        seconds,
        used,
        left,
        resets_at: used === 0 ? null : new Date(resetsAt).toISOString(),
        learnt,
      })),
      not_before: blocked ? new Date(notBefore).toISOString() : null,
    },
    text: (terminal) => {
      const told = blocked
        ? `\n\nThe service refuses calls for another ${durationInWords((notBefore - now) / 1000)}.`
        : ''
      return table(windows, columns, terminal) + told
    },
  }
}
