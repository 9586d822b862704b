import type { RequestBody } from '../../contract/request-body.ts'
import { refusedOrder, stopMessage } from '../../domain/submission/duplicate.ts'
import { mayBeAsked, type Stop } from '../../domain/submission/match.ts'
import { InterruptedError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'

/**
 * Asks whether to order although somebody similar was (default No; `--yes` never says so): as soon as the person is
 * known, where more is asked, and in the final question of the review where there is one; else by itself. `look`: what stands in an order's way.
 */
export class SimilarQuestion {
  readonly #prompter: Pick<Prompter, 'confirm'> | undefined
  /** What stands in an order's way now. */
  readonly look: (order: RequestBody) => Promise<Stop | undefined>
  #shown: Stop | undefined

  constructor(
    prompter: Pick<Prompter, 'confirm'> | undefined,
    look: (order: RequestBody) => Promise<Stop | undefined>,
  ) {
    this.#prompter = prompter
    this.look = look
  }

  /**
   * As soon as the person is known: throws a DuplicateError where the order cannot be made whatever else is answered.
   * Where more is asked, it asks about somebody similar first; an InterruptedError where that is not to be ordered.
   */
  async early(order: RequestBody, baseUrl: string, isMoreAsked: boolean): Promise<void> {
    const stop = await this.look(order)
    if (stop === undefined) return
    if (!mayBeAsked(stop)) throw refusedOrder(stop, baseUrl)
    if (!isMoreAsked) return
    const question = { message: `${sentence(stop)} Go on all the same?`, isGrave: true }
    if ((await this.#prompter?.confirm(question)) !== true)
      throw new InterruptedError('cancelled; nothing was ordered')
  }

  /** For the final question of the review. */
  async doubt(order: RequestBody): Promise<string | undefined> {
    const stop = await this.look(order)
    this.#shown = stop !== undefined && mayBeAsked(stop) ? stop : undefined
    return this.#shown && sentence(this.#shown)
  }

  /** Whether the order is to be made; what the review has shown is not asked again. */
  async isConfirmed(stop: Stop): Promise<boolean> {
    if (this.#shown !== undefined && isSame(this.#shown, stop)) return true
    const question = { message: `${sentence(stop)} Order anyway?`, initial: false, isGrave: true }
    return (await this.#prompter?.confirm(question)) === true
  }
}

function isSame(one: Stop, other: Stop): boolean {
  return (
    one.order.batchId === other.order.batchId &&
    one.order.row === other.order.row &&
    one.reason === other.reason
  )
}

function sentence(stop: Stop): string {
  const text = stopMessage(stop)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
