import { once, type Scope } from '../cli/scope.ts'
import { countInWords } from '../domain/wording/count-in-words.ts'
import { account } from './session.ts'
import { hastyStore, store } from './store.ts'

/**
 * The account that a command orders or plans for. Throws UsageError for one that the store does not have, before anything
 * is stored or sent, so that a misspelled name does not make everybody new.
 */
export const knownAccount = once(async (scope: Scope): Promise<string> => {
  const name = await account(scope)
  if (name === '') return name
  const { accounts } = await store(scope)
  if ((await accounts.check(name)) === 'first') {
    scope.note(`The account "${name}" becomes the first one of this store.`)
  }
  return name
})

/**
 * What a person has to know before a setting changes the account: who is known under the one that is left. Undefined where
 * nobody becomes new.
 */
export async function accountChange(
  scope: Scope,
  { from = '', to = '' }: { from: string | undefined; to: string | undefined },
): Promise<string | undefined> {
  // Whoever has no account is seen by every account, and without an account everybody is seen.
  if (from === '' || to === '' || from === to) return undefined
  const known = (await (await hastyStore(scope))?.accounts.list()) ?? []
  const people = known.find(({ account: name }) => name === from)?.people ?? 0
  if (people === 0) return undefined
  const them = people === 1 ? 'this person' : 'they'
  return `${countInWords(people, 'person is', 'people are')} known under the account "${from}"; under "${to}" ${them} can be ordered again.`
}
