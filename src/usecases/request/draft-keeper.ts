import type { Services } from '../services.ts'
import {
  type DraftOwner,
  draftLifetimeMs,
  draftTitle,
  isDraftOf,
  type StoredDraft,
  ownDrafts,
} from '../../domain/form/stored-draft.ts'
import type { DraftBody } from '../../domain/form/validate.ts'
import { RefcheckError, InterruptedError, IoError, NotFoundError } from '../../errors/kinds.ts'
import type { Prompter } from '../../prompt/prompter.ts'

export interface DraftServices extends Pick<Services, 'drafts' | 'clock' | 'random'> {
  owner: DraftOwner
  /** Called with a sentence where answers cannot be stored. */
  onMessage: (text: string) => void
}

/** Keeps the answers of one person until they are ordered, so that nothing that ends a command loses them. */
export class DraftKeeper {
  readonly #connect: () => Promise<DraftServices>
  readonly #resume: string
  #id: string | undefined
  /** Whether a file has the answers as they are now. */
  #isStored = false
  #isRefused = false

  /** `connect` finds out whose answers they are; `resume`: the command line that goes on from them. */
  constructor(connect: () => Promise<DraftServices>, resume: string) {
    this.#connect = connect
    this.#resume = resume
  }

  /**
   * The draft to go on from: the only one, or the one that a person chooses. NotFoundError where there is none; with
   * several and no terminal, the newest.
   */
  async resumed(packageId: number | undefined, prompter: Prompter | undefined): Promise<DraftBody> {
    const { drafts, owner, onMessage } = await this.#connect()
    await this.#sweep()
    const own = ownDrafts(await drafts.all(), owner, packageId)
    const [newest] = own
    if (newest === undefined) {
      const of = packageId === undefined ? '' : ` of package ${packageId}`
      throw new NotFoundError(`no answers are kept for an order${of} as ${owner.userEmail}`, {
        hint: 'Begin a new order with: refcheck request create',
      })
    }
    const isOffered = own.length > 1 && prompter !== undefined
    const draft = isOffered ? await chosen(prompter, own) : newest
    if (!isOffered) onMessage(`Continuing the order of ${draftTitle(draft)}`)
    this.#id = draft.id
    this.#isStored = true
    return draft.body
  }

  /** Keeps what was answered so far. Does without where the disk refuses: the order matters more. */
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
      await drafts.keep(draft)
      this.#isStored = true
    } catch (error) {
      if (!(error instanceof IoError)) throw error
      this.#isRefused = true
      this.#isStored = false
      onMessage(`Your answers cannot be kept on disk: ${error.message}`)
    }
  }

  /** The answers were ordered, or are not wanted any more. */
  async drop(): Promise<void> {
    const id = this.#id
    if (id === undefined) return
    this.#isStored = false
    await (await this.#connect()).drafts.drop(id)
  }

  /** What ended the command, with the way to go on from the answers; an order that may have been made needs none. */
  async after(error: unknown): Promise<unknown> {
    if (!this.#isStored || !(error instanceof RefcheckError)) return error
    if (error.code === 'outcome_unknown' || (error.code === 'interrupted' && error.order !== undefined)) {
      await this.drop()
      return error
    }
    const message = `Your answers are kept. Continue with: ${this.#resume}`
    // A person who leaves needs no other advice.
    error.hint =
      error instanceof InterruptedError ? message : [error.hint, message].filter(Boolean).join('\n')
    return error
  }

  async #sweep(): Promise<void> {
    const { drafts, clock } = await this.#connect()
    const savedBefore = clock.now() - draftLifetimeMs
    for (const draft of await drafts.all()) if (isDraftOf(draft, { savedBefore })) await drafts.drop(draft.id)
  }
}

async function chosen(prompter: Prompter, drafts: readonly StoredDraft[]): Promise<StoredDraft> {
  return prompter.select({
    message: 'Continue from which answers?',
    choices: drafts.map((draft) => ({ value: draft, label: draftTitle(draft) })),
  })
}
