import type { RequestBody } from '../../contract/request-body.ts'
import { stopMessage } from '../../domain/submission/duplicate.ts'
import { mayBeAsked, type Stop } from '../../domain/submission/match.ts'
import type { Prompter } from '../../prompt/prompter.ts'

/**
 * Asks once whether to order although somebody similar was (default No; `--yes` never says so): in the final question of
 * the review where there is one, else by itself. `look`: what stands in an order's way.
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
