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
import type { Prompter } from '../../prompt/prompter.ts'

export interface DraftServices extends Pick<Services, 'drafts' | 'clock' | 'random'> {
  owner: DraftOwner
  /** Called with a sentence for the user: which draft is continued, or that the answers cannot be stored. */
  onMessage: (text: string) => void
}

/** Stores the answers about one person until the order is made, so that they are not lost if the command ends. */
export class DraftKeeper {
  readonly #openServices: () => Promise<DraftServices>
  readonly #resumeCommand: string
  #id: string | undefined
  /** Whether a file contains the current answers. */
  #isStored = false
  #hasDiskFailed = false

  /**
   * `openServices` opens the drafts and determines their owner; `resumeCommand`: the command line that continues from a draft.
   */
  constructor(openServices: () => Promise<DraftServices>, resumeCommand: string) {
    this.#openServices = openServices
    this.#resumeCommand = resumeCommand
  }

  /**
   * Returns the draft to continue: the only draft, or the draft that the user chooses; without a terminal the
   * newest draft. Throws a NotFoundError if there is none.
   */
  async findDraftToResume(packageId: number | undefined, prompter: Prompter | undefined): Promise<DraftBody> {
    const { drafts, owner, onMessage } = await this.#openServices()
    await this.#removeExpired()
    const matchingDrafts = selectDrafts(await drafts.list(), owner, packageId)
    const [newest] = matchingDrafts
    if (newest === undefined) {
      const packageText = packageId === undefined ? '' : ` of package ${packageId}`
      throw new NotFoundError(`no answers are kept for an order${packageText} as ${owner.userEmail}`, {
        hint: 'Begin a new order with: refcheck request create',
      })
    }
    const canChoose = matchingDrafts.length > 1 && prompter !== undefined
    const draft = canChoose ? await chooseDraft(prompter, matchingDrafts) : newest
    if (!canChoose) onMessage(`Continuing the order of ${draftTitle(draft)}`)
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
    const message = `Your answers are kept. Continue with: ${this.#resumeCommand}`
    // If the user has left, no other hint is needed.
    error.hint =
      error instanceof InterruptedError ? message : [error.hint, message].filter(Boolean).join('\n')
    return error
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
