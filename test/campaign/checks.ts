import type { Ended } from './stage.ts'

/** Throws where a command did not end as it should, with its output. */
export function ends(ended: Ended, codes: number | readonly number[], text = ''): Ended {
  const { code, stdout, stderr } = ended
  const isExpected = (typeof codes === 'number' ? [codes] : codes).includes(code ?? -1)
  if (!isExpected || !`${stdout}${stderr}`.includes(text))
    throw new Error(
      `exit ${code}, not ${String(codes)} with "${text}": ${stdout.slice(-300)} ${stderr.slice(-300)}`,
    )
  return ended
}

export function batchOf({ stdout }: Ended): string {
  const found = /"batch_id": ?"([0-9a-f-]{36})"/.exec(stdout)?.[1]
  if (found === undefined) throw new Error(`no batch in ${stdout}`)
  return found
}

export function counts(is: number, should: number, what: string): void {
  if (is !== should) throw new Error(`${what}: ${is}, not ${should}`)
}
