import { UsageError } from '../../errors/usage.ts'
import { type SubmissionState, submissionStates } from '../../store/ledger/types.ts'

/** `rejected,unknown` as states of rows; undefined where nothing was said. */
export function rowStates(text: string | undefined): SubmissionState[] | undefined {
  return text?.split(',').map((part) => {
    const state = submissionStates.find((each) => each === part.trim().toLowerCase())
    if (state !== undefined) return state
    throw new UsageError(`--state: there is no state "${part.trim().slice(0, 40)}"`, {
      hint: `States: ${submissionStates.join(', ')}`,
    })
  })
}
