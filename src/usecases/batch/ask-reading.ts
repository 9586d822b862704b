import type { ColumnChoices } from '../../domain/batch/columns.ts'
import { UndecidedError } from '../../errors/undecided.ts'
import type { Prompter } from '../../prompt/prompter.ts'

/** What of a file's reading only a person can say. */
export type ReadingAnswers = Pick<ColumnChoices, 'sheet' | 'headerRow' | 'encoding' | 'hidden'>

/**
 * Runs a job that reads a file, and asks where it can be read in more than one way; the answers go into `said`, and
 * the job runs again. Nothing may have been sent by then. Without a person the file is refused as it stands.
 */
export async function readAsAnswered<T>(
  said: ReadingAnswers,
  prompter: Prompter | undefined,
  job: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await job()
    } catch (error) {
      const canAsk = error instanceof UndecidedError && error.answers.length > 0
      if (!canAsk || prompter === undefined || isSaid(said, error.about)) throw error
      const answer = await prompter.select({ message: error.question, choices: error.answers })
      keep(said, error.about, answer)
    }
  }
}

function isSaid(said: ReadingAnswers, about: UndecidedError['about']): boolean {
  return said[about === 'header-row' ? 'headerRow' : about] !== undefined
}

function keep(said: ReadingAnswers, about: UndecidedError['about'], answer: string): void {
  switch (about) {
    case 'header-row':
      said.headerRow = Number(answer)
      return
    case 'hidden':
      said.hidden = answer === 'include' ? 'include' : 'skip'
      return
    case 'sheet':
    case 'encoding':
      said[about] = answer
  }
}
