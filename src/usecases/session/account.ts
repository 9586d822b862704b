import { countInWords } from '../../domain/wording/count-in-words.ts'
import type { Services } from '../services.ts'

/**
 * What a person has to know before a setting changes the account: who is known under the one that is left. Undefined where
 * nobody becomes new, as where there is no store yet.
 */
export async function accountChange(
  openStore: () => Promise<Pick<Services, 'accounts'> | undefined>,
  { from = '', to = '' }: { from: string | undefined; to: string | undefined },
): Promise<string | undefined> {
  // Whoever has no account is seen by every account, and without an account everybody is seen.
  if (from === '' || to === '' || from === to) return undefined
  const known = (await (await openStore())?.accounts.list()) ?? []
  const people = known.find(({ account: name }) => name === from)?.people ?? 0
  if (people === 0) return undefined
  const them = people === 1 ? 'this person' : 'they'
  return `${countInWords(people, 'person is', 'people are')} known under the account "${from}"; under "${to}" ${them} can be ordered again.`
}
