import type { CommandResult } from './environment.ts'

/**
 * Throws, with the output of the command, unless its exit code is one of `codes` and its output contains
 * `text`.
 */
export function expectExit(
  result: CommandResult,
  codes: number | readonly number[],
  text = '',
): CommandResult {
  const { code, stdout, stderr } = result
  const isExpected = (typeof codes === 'number' ? [codes] : codes).includes(code ?? -1)
  if (!isExpected || !`${stdout}${stderr}`.includes(text))
    throw new Error(
      `exit ${code}, not ${String(codes)} with "${text}": ${stdout.slice(-300)} ${stderr.slice(-300)}`,
    )
  return result
}

export function findBatchId({ stdout }: CommandResult): string {
  const batchId = /"batch_id": ?"([0-9a-f-]{36})"/.exec(stdout)?.[1]
  if (batchId === undefined) throw new Error(`no batch in ${stdout}`)
  return batchId
}

/** Throws unless `actual` is `expected`; `noun` names the counted things. */
export function expectCount(actual: number, expected: number, noun: string): void {
  if (actual !== expected) throw new Error(`${noun}: ${actual}, not ${expected}`)
}
