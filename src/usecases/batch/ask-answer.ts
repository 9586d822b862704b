import { personWithEmail } from '../../domain/wording/shown-name.ts'
import { uuid } from '../../contract/identifiers.ts'
import { threeAnswers, type ProvidersAnswer } from '../../domain/batch/reconciliation.ts'
import type { BatchRow } from '../../domain/batch/batch.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'
import { localTime } from '../../domain/wording/local-time.ts'

/** Asks what the provider said of the person of a row, by name; undefined: that is not known yet. */
export async function askedAnswer(
  prompter: Prompter | undefined,
  row: BatchRow,
): Promise<ProvidersAnswer | undefined> {
  const { recipient, packageId } = row
  if (prompter === undefined) {
    throw new UsageError(`what the provider said of row ${row.row} is missing`, {
      hint: threeAnswers(row, recipient?.email),
    })
  }
  const who =
    recipient === undefined ? 'the person of this row (removed from this store)' : personWithEmail(recipient)
  const sentAt = row.attemptedAt === undefined ? '' : `, sent ${localTime(row.attemptedAt)}`
  const kind = await prompter.select<ProvidersAnswer['kind'] | 'later'>({
    message: `Does the provider have a request for ${who}, package ${packageId}${sentAt}?`,
    choices: [
      { value: 'later', label: 'I do not know yet', detail: 'Nothing is done.' },
      { value: 'has', label: 'They have it', detail: 'Its id is asked for, read once and recorded.' },
      recipient === undefined
        ? {
            value: 'order',
            label: 'They do not have it: close the row',
            detail: 'Nothing is sent; the person can then be ordered.',
          }
        : {
            value: 'order',
            label: 'They do not have it: order it',
            detail: 'This is a new order, sent at once.',
          },
      { value: 'leave', label: 'Nobody knows: never send it', detail: 'The same order stays refused.' },
    ],
  })
  switch (kind) {
    case 'later':
      return undefined
    case 'leave':
      return { kind }
    case 'order':
      return { kind, confirmedEmail: undefined }
    case 'has': {
      const check = (text: string) => (uuid.safeParse(text).success ? undefined : 'not a UUID')
      return { kind, requestId: await prompter.text({ message: 'Id of their request:', check }) }
    }
  }
}
