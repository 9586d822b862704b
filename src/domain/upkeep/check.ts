import { IoError } from '../../errors/io.ts'

/** What a check with findings fails with. */
export function unsound(location: string, findings: readonly string[]): IoError | undefined {
  if (findings.length === 0) return undefined
  return new IoError(`the store "${location}" is damaged: ${findings[0]}`, {
    hint: 'Order nothing with it. Keep the file, put back a backup, and settle what was ordered since.',
  })
}
