import { maskKey, type SessionStatus, type StatusAnswer } from '../../domain/session/session.ts'
import { RefcheckError } from '../../errors/base.ts'
import { ForbiddenError } from '../../errors/kinds.ts'
import type { Connect } from './login.ts'
import { resolveSession, type SessionSources } from './resolve.ts'

/** Which session the next command would use, and whether it works. Throws where there is none. */
export async function sessionStatus(
  sources: SessionSources & { connect: Connect; signal?: AbortSignal | undefined },
): Promise<StatusAnswer> {
  const session = await resolveSession(sources)
  const status: SessionStatus = {
    profile: session.profile ?? null,
    base_url: session.baseUrl,
    user_email: session.email,
    key_from: session.keyFrom,
    key: maskKey(session.apiKey),
    works: false,
    user: null,
  }
  try {
    const users = await sources.connect(session).listUsers(sources.signal)
    const user = users.find((each) => each.email.toLowerCase() === session.email.toLowerCase())
    if (user !== undefined) return { status: { ...status, works: true, user }, error: undefined }
    const error = new ForbiddenError(`"${session.email}" is not an active user of the key’s organisation`, {
      hint: 'Log in with the e-mail of an active user: refcheck auth login',
    })
    return { status, error }
  } catch (error) {
    if (error instanceof RefcheckError && error.code !== 'interrupted') return { status, error }
    throw error
  }
}
