import { refusedOrder } from '../../domain/submission/duplicate.ts'
import type { Stop } from '../../domain/submission/match.ts'
import type { Prompter } from '../../prompt/prompter.ts'

/** Asks whether to order although somebody similar was; No unless somebody says otherwise, and `--yes` never does. */
export function similarQuestion(
  prompter: Pick<Prompter, 'confirm'> | undefined,
): ((stop: Stop) => Promise<boolean>) | undefined {
  if (prompter === undefined) return undefined
  return async (stop) =>
    prompter.confirm({
      message: `${sentence(refusedOrder(stop).message)} Order all the same?`,
      initial: false,
    })
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
