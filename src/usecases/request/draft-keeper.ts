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
  /** Called with a sentence if the answers cannot be stored. */
  onMessage: (text: string) => void
}

/** Stores the answers about one person until the order is made, so that they are not lost if the command ends. */
export class DraftKeeper {
  readonly #connect: () => Promise<DraftServices>
  readonly #resumeCommand: string
  #id: string | undefined
  /** Whether a file contains the current answers. */
  #isStored = false
  #isRefused = false

  /**
   * `connect` opens the drafts and determines their owner; `resumeCommand`: the command line that continues from a draft.
   */
  constructor(connect: () => Promise<DraftServices>, resumeCommand: string) {
    this.#connect = connect
    this.#resumeCommand = resumeCommand
  }

  /**
   * Returns the draft to continue: the only one, or the one that the user chooses. Without a terminal it is the
   * newest. Throws a NotFoundError if there is none.
   */
  async findDraftToResume(packageId: number | undefined, prompter: Prompter | undefined): Promise<DraftBody> {
    const { drafts, owner, onMessage } = await this.#connect()
    await this.#removeExpired()
    const ownDraftsOfUser = selectDrafts(await drafts.list(), owner, packageId)
    const [newest] = ownDraftsOfUser
    if (newest === undefined) {
      const packageText = packageId === undefined ? '' : ` of package ${packageId}`
      throw new NotFoundError(`no answers are kept for an order${packageText} as ${owner.userEmail}`, {
        hint: 'Begin a new order with: refcheck request create',
      })
    }
    const canChoose = ownDraftsOfUser.length > 1 && prompter !== undefined
    const draft = canChoose ? await chooseDraft(prompter, ownDraftsOfUser) : newest
    if (!canChoose) onMessage(`Continuing the order of ${draftTitle(draft)}`)
    this.#id = draft.id
    this.#isStored = true
    return draft.body
  }

  /**
   * Stores the answers so far. If the disk refuses them, reports it once and continues, since the order is more
   * important.
   */
  async keep(body: DraftBody, packageName: string): Promise<void> {
    if (this.#isRefused) return
    const { drafts, owner, clock, random, onMessage } = await this.#connect()
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
      this.#isRefused = true
      this.#isStored = false
      onMessage(`Your answers cannot be kept on disk: ${error.message}`)
    }
  }

  /** Deletes the draft, since the answers were ordered or discarded. */
  async drop(): Promise<void> {
    const id = this.#id
    if (id === undefined) return
    this.#isStored = false
    await (await this.#connect()).drafts.remove(id)
  }

  /**
   * Adds the command that continues from the draft to an error. If the order may have been made, deletes the draft
   * instead.
   */
  async withResumeHint(error: unknown): Promise<unknown> {
    if (!this.#isStored || !(error instanceof RefcheckError)) return error
    if (error.code === 'outcome_unknown' || (error.code === 'interrupted' && error.order !== undefined)) {
      await this.drop()
      return error
    }
    const message = `Your answers are kept. Continue with: ${this.#resumeCommand}`
    // If the user has left, no other hint is needed.
    error.hint =
      error instanceof InterruptedError ? message : [error.hint, message].filter(Boolean).join('\n')
    return error
  }

  async #removeExpired(): Promise<void> {
    const { drafts, clock } = await this.#connect()
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
