import { readFileSync } from 'node:fs'

/** A process as Linux shows it. */
interface Shown {
  pid: number
  parent: number
  group: number
  /** Ticks since this machine started, and which start that was. */
  started: string
}

/** Nobody has so many ancestors; a loop ends all the same. */
const mostAncestors = 200

/** This process and all that it was started by, the nearest first; none where the system has no /proc. */
export function processLineage(pid: number = process.pid): { pid: number; group: number; started: string }[] {
  const boot = textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
  const lineage: Shown[] = []
  for (let next = pid; next > 0 && lineage.length < mostAncestors;) {
    const found = shownProcess(next, boot)
    if (found === undefined) break
    lineage.push(found)
    next = found.parent
  }
  return lineage.map(({ pid: id, group, started }) => ({ pid: id, group, started }))
}

/** Its name may hold blanks and brackets, so that what follows is counted from the last one. */
function shownProcess(pid: number, boot: string): Shown | undefined {
  const text = textOf(`/proc/${pid}/stat`)
  const values = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, group, ticks] = [values?.[1], values?.[2], values?.[19]]
  if (parent === undefined || group === undefined || ticks === undefined) return undefined
  return { pid, parent: Number(parent), group: Number(group), started: `${boot} ${ticks}` }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
