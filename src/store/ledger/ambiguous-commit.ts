import { NoAnswerError } from '../../errors/kinds.ts'

const maxTries = 5

/**
 * Makes a change whose commit may go without an answer. `lookUp` waits for whatever the lost transaction has locked, and
 * says what came of the change; undefined where it was not made. What it reads is committed anew, so that a
 * standby that is waited for has it too.
 */
export async function resolveAmbiguousCommit<T>(
  change: () => Promise<T>,
  lookUp: () => Promise<T | undefined>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof NoAnswerError) || tries === maxTries) throw error
      const made = await lookUp()
      if (made !== undefined) return made
    }
  }
}
