import type { RequestResource } from '../contract/request.ts'
import type { UnavailableError } from '../errors/kinds.ts'
import type { Services } from '../cli/services.ts'

/** A wait for the quota that is worth a word, in seconds. */
const longPause = 5

/** What following requests needs: a share of the quota, the inbox, and somewhere to tell of it. */
export async function following(services: Services) {
  const { reporter, context } = services
  const { inbox } = await services.store()
  return {
    clock: context.clock,
    governor: await services.governor(),
    inbox,
    onStatus: ({ request_id, status }: RequestResource) => reporter.note(`${request_id}  ${status}`),
    onTrouble: (error: UnavailableError, seconds: number) =>
      reporter.note(`${error.message}; trying again in ${seconds} s`),
    onPaced: (seconds: number) => {
      if (seconds > longPause) reporter.note(`The next read has its place in ${Math.ceil(seconds)} s.`)
    },
  }
}
