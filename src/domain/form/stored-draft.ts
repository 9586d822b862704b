import { personName, formatCount } from '../wording/text.ts'
import { z } from 'zod'

import { localTime } from '../wording/time.ts'
import type { DraftBody } from './validate.ts'
import { parseJsonOrUndefined } from '../../contract/parse-json.ts'

/** A draft is removed if it was not continued for this time. */
export const draftLifetimeMs = 30 * 24 * 60 * 60 * 1000

const storedBody = z.object({
  package_id: z.int(),
  recipient: z.partialRecord(z.enum(['first_name', 'last_name', 'email', 'phone']), z.string()),
  additional_information: z
    .array(z.object({ code: z.string(), fields: z.record(z.string(), z.json()) }))
    .optional(),
})

/** The answers of a `request create` that has not sent the order yet. */
const storedDraft = z.object({
  refcheck_draft: z.literal(1),
  id: z.string().regex(/^[\da-f]{16}$/),
  saved_at: z.iso.datetime(),
  /** The service, user and account for which the answers were given. */
  base_url: z.string(),
  user_email: z.string(),
  account: z.string(),
  package_name: z.string(),
  body: storedBody,
})

export interface StoredDraft extends Omit<z.infer<typeof storedDraft>, 'body'> {
  body: DraftBody
}

/** The service, user and account that a draft belongs to. */
export interface DraftOwner {
  baseUrl: string
  userEmail: string
  account: string
}

/** Parses a stored draft; undefined for any other text. */
export function parseDraft(text: string): StoredDraft | undefined {
  return storedDraft.safeParse(parseJsonOrUndefined(text)).data as StoredDraft | undefined
}

/** Returns the drafts of one service, user and account (and of the package if given), newest first. */
export function selectDrafts(
  drafts: readonly StoredDraft[],
  { baseUrl, userEmail, account }: DraftOwner,
  packageId: number | undefined,
): StoredDraft[] {
  return drafts
    .filter(
      (draft) =>
        draft.base_url === baseUrl &&
        draft.user_email.toLowerCase() === userEmail.toLowerCase() &&
        draft.account === account &&
        (packageId === undefined || draft.body.package_id === packageId),
    )
    .toSorted((one, other) => (one.saved_at < other.saved_at ? 1 : -1))
}

/** Returns `Zoë O'Brien-Smith, 101 Standard employment screen, 6 answers, 2026-11-20 22:00 +10:00`. */
export function draftTitle({ body, package_name, saved_at }: StoredDraft): string {
  const { first_name = '', last_name = '', email = '' } = body.recipient
  const name = personName({ first_name, last_name })
  const answers = [body.recipient, ...(body.additional_information ?? []).map(({ fields }) => fields)]
  const count = answers.reduce((sum, each) => sum + Object.keys(each).length, 0)
  return [
    name === '' ? email || 'Nobody named yet' : name,
    `${body.package_id} ${package_name}`.trim(),
    formatCount(count, 'answer'),
    localTime(saved_at),
  ].join(', ')
}

/** Whether a draft is for the person with this email, or was saved before this time (wall time in ms). */
export function isDraftSelected(
  draft: StoredDraft,
  selection: { email: string } | { savedBefore: number },
): boolean {
  if ('savedBefore' in selection) return Date.parse(draft.saved_at) < selection.savedBefore
  return draft.body.recipient.email?.toLowerCase() === selection.email.toLowerCase()
}
