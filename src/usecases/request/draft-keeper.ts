import type { Services } from '../services.ts'
import {
  type DraftOwner,
  draftLifetimeMs,
  draftTitle,
  isDraftSelected,
  type StoredDraft,
  selectDrafts,
} from '../../domain/form/stored-draft.ts'
import type { DraftBody } from '../../domain/form/validate.ts'
import { RefcheckError, InterruptedError, IoError, NotFoundError } from '../../errors/kinds.ts'
import type { Package } from '../../contract/package.ts'
import { packageWithName } from '../../domain/submission/confirmation.ts'
import { capitalize } from '../../domain/wording/text.ts'
import type { Prompter } from '../../prompt/prompter.ts'

export interface DraftServices extends Pick<Services, 'drafts' | 'clock' | 'random'> {
  owner: DraftOwner
  /** Called with a sentence for the user: which draft is continued, or that the answers cannot be stored. */
  onMessage: (text: string) => void
  /** Returns the packages that a package replaced, and those that count as the same. */
  findPredecessors: (packageId: number) => Promise<ReadonlySet<number>>
}

/** Stores the answers about one person until the order is made, so that they are not lost if the command ends. */
export class DraftKeeper {
  readonly #openServices: () => Promise<DraftServices>
  readonly #resumeCommand: string
  #id: string | undefined
  /** Whether a file contains the current answers. */
  #isStored = false
  #hasDiskFailed = false
  /** Set if the package of the draft cannot be ordered any more, with the package that probably replaced it. */
  #unavailable: { successorId: number | undefined } | undefined

  /**
   * `openServices` opens the drafts and determines their owner; `resumeCommand`: the command line that continues from a draft.
   */
  constructor(openServices: () => Promise<DraftServices>, resumeCommand: string) {
    this.#openServices = openServices
    this.#resumeCommand = resumeCommand
  }

  /**
   * Returns the draft to continue: the only draft, or the draft that the user chooses; without a terminal the
   * newest draft. With `packageId`, only drafts of this package, or else of those that it replaced. Throws a
   * NotFoundError if there is none.
   */
  async findDraftToResume(packageId: number | undefined, prompter: Prompter | undefined): Promise<DraftBody> {
    const { drafts, owner, onMessage, findPredecessors } = await this.#openServices()
    await this.#removeExpired()
    const storedDrafts = await drafts.list()
    let matchingDrafts = selectDrafts(storedDrafts, owner, packageId)
    const ownDrafts = selectDrafts(storedDrafts, owner, undefined)
    if (packageId !== undefined && matchingDrafts.length === 0 && ownDrafts.length > 0) {
      const predecessors = await findPredecessors(packageId)
      matchingDrafts = ownDrafts.filter(({ body }) => predecessors.has(body.package_id))
    }
    const [newest] = matchingDrafts
    if (newest === undefined) {
      const packageText = packageId === undefined ? '' : ` of package ${packageId}`
      throw new NotFoundError(`no answers are kept for an order${packageText} as ${owner.userEmail}`, {
        hint: 'Begin a new order with: refcheck request create',
      })
    }
    const canChoose = matchingDrafts.length > 1 && prompter !== undefined
    const draft = canChoose ? await chooseDraft(prompter, matchingDrafts) : newest
    const asText =
      packageId === undefined || draft.body.package_id === packageId ? '' : `, now for package ${packageId}`
    if (!canChoose || asText !== '') onMessage(`Continuing the order of ${draftTitle(draft)}${asText}`)
    this.#id = draft.id
    this.#isStored = true
    return draft.body
  }

  /**
   * Stores the answers so far. If the disk refuses them, reports it once and continues, since the order is more
   * important.
   */
  async saveDraft(body: DraftBody, packageName: string): Promise<void> {
    if (this.#hasDiskFailed) return
    const { drafts, owner, clock, random, onMessage } = await this.#openServices()
    this.#id ??= random.bytes(8).toString('hex')
    const draft: StoredDraft = {
      refcheck_draft: 1,
      id: this.#id,
      saved_at: new Date(clock.now()).toISOString(),
      base_url: owner.baseUrl,
      user_email: owner.userEmail,
      account: owner.account,
      package_name: packageName,
      body,
    }
    try {
      await drafts.save(draft)
      this.#isStored = true
    } catch (error) {
      if (!(error instanceof IoError)) throw error
      this.#hasDiskFailed = true
      this.#isStored = false
      onMessage(`Your answers cannot be kept on disk: ${error.message}`)
    }
  }

  /**
   * Asks on a terminal what becomes of the answers whose package cannot be ordered any more. Returns whether the order is
   * continued with its successor; false without a terminal. Throws an InterruptedError if the user leaves or deletes the
   * answers.
   */
  async decideUnavailable(
    problem: string,
    successor: Package | undefined,
    prompter: Prompter | undefined,
  ): Promise<boolean> {
    this.#unavailable = { successorId: successor?.id }
    if (prompter === undefined) return false
    const choice = await prompter.select<'continue' | 'leave' | 'delete'>({
      message: `${capitalize(problem)}.`,
      choices: [
        ...(successor === undefined
          ? []
          : [
              {
                value: 'continue' as const,
                label: `Continue with ${packageWithName(successor)}`,
                detail: 'Your answers are used; only what is missing is asked for.',
              },
            ]),
        { value: 'leave', label: 'Leave', detail: 'Nothing is ordered; the answers are kept.' },
        { value: 'delete', label: 'Delete the answers', detail: 'Nothing is ordered.' },
      ],
    })
    if (choice === 'delete') {
      await this.deleteDraft()
      throw new InterruptedError('cancelled; nothing was ordered, and the answers are deleted')
    }
    if (choice === 'leave') throw new InterruptedError('cancelled; nothing was ordered')
    this.#unavailable = undefined
    return true
  }

  /** Deletes the draft, since the answers were ordered or discarded. */
  async deleteDraft(): Promise<void> {
    const id = this.#id
    if (id === undefined) return
    this.#isStored = false
    await (await this.#openServices()).drafts.remove(id)
  }

  /**
   * Adds to the hint of an error the command that continues from the draft. If the order may have been made, deletes
   * the draft instead.
   */
  async withResumeHint(error: unknown): Promise<unknown> {
    if (!this.#isStored || !(error instanceof RefcheckError)) return error
    if (error.code === 'outcome_unknown' || (error.code === 'interrupted' && error.order !== undefined)) {
      await this.deleteDraft()
      return error
    }
    const message = this.#continueText()
    // If the user has left, no other hint is needed.
    error.hint =
      error instanceof InterruptedError ? message : [error.hint, message].filter(Boolean).join('\n')
    return error
  }

  #continueText(): string {
    const resume = this.#resumeCommand
    if (this.#unavailable === undefined) return `Your answers are kept. Continue with: ${resume}`
    const { successorId } = this.#unavailable
    return [
      'Your answers are kept.',
      ...(successorId === undefined ? [] : [`Continue with: ${resume} --package ${successorId}`]),
      `Delete them on a terminal, with: ${resume}`,
    ].join('\n')
  }

  async #removeExpired(): Promise<void> {
    const { drafts, clock } = await this.#openServices()
    const savedBefore = clock.now() - draftLifetimeMs
    for (const draft of await drafts.list())
      if (isDraftSelected(draft, { savedBefore })) await drafts.remove(draft.id)
  }
}

async function chooseDraft(prompter: Prompter, drafts: readonly StoredDraft[]): Promise<StoredDraft> {
  return prompter.select({
    message: 'Continue from which answers?',
    choices: drafts.map((draft) => ({ value: draft, label: draftTitle(draft) })),
  })
}
