import type { CommandResult } from './environment.ts'

/**
 * Throws, with the output of the command, unless its exit code is one of `codes` and its output contains
 * `text`.
 */
export function expectExit(
  ended: CommandResult,
  codes: number | readonly number[],
  text = '',
): CommandResult {
  const { code, stdout, stderr } = ended
  const isExpected = (typeof codes === 'number' ? [codes] : codes).includes(code ?? -1)
  if (!isExpected || !`${stdout}${stderr}`.includes(text))
    throw new Error(
      `exit ${code}, not ${String(codes)} with "${text}": ${stdout.slice(-300)} ${stderr.slice(-300)}`,
    )
  return ended
}

export function findBatchId({ stdout }: CommandResult): string {
  const found = /"batch_id": ?"([0-9a-f-]{36})"/.exec(stdout)?.[1]
  if (found === undefined) throw new Error(`no batch in ${stdout}`)
  return found
}

export function expectCount(is: number, should: number, what: string): void {
  if (is !== should) throw new Error(`${what}: ${is}, not ${should}`)
}
