import type { User } from '../../contract/user.ts'
import type { LoginResult, LogoutResult, ProfileEntry, SessionStatus } from '../../domain/session/session.ts'
import { personName } from '../../domain/wording/shown-name.ts'
import { sanitize } from '../../host/text.ts'
import { wrapped } from '../format.ts'
import { styled } from '../terminal.ts'
import type { ListView, View } from '../view.ts'

const storages = { keychain: 'the system keychain', file: 'a private file', environment: 'the environment' }

/** `file` names the credentials file, for where a key is not in a keychain. */
export function loginView(result: LoginResult, baseUrl: string, file: string): View {
  const { profile, storage, user, replaced } = result
  return {
    json: { profile, base_url: baseUrl, user_email: user.email, key_from: storage, replaced },
    text: (terminal) => {
      const pairs = [
        `${styled(terminal, 'green', 'Logged in')} to ${baseUrl} as ${sanitize(personName(user))} (${sanitize(user.email)}, ${sanitize(user.role)}).`,
        `Profile "${profile}" is now in use. Its key is in ${storages[storage]}${storage === 'file' ? `, readable only by you: ${file}` : '.'}`,
      ]
      return wrapped(pairs.join('\n'), terminal.columns)
    },
  }
}

/** A new key of an organisation revokes the one before it ("Authentication", rule 6). */
export function replacedText(replaced: readonly string[]): string {
  const names = replaced.map((name) => `"${name}"`).join(', ')
  return `${replaced.length === 1 ? 'Profile' : 'Profiles'} ${names} had another key for the same base URL. If it is the same organisation, the new key has revoked that one.`
}

export function statusView(status: SessionStatus): View {
  return {
    json: status,
    text: (terminal) => {
      const works = status.works
        ? styled(terminal, 'green', 'works')
        : styled(terminal, 'red', 'does not work')
      const who = status.user === null ? '' : ` (${sanitize(status.user.role)})`
      return [
        `profile   ${status.profile ?? 'none; everything comes from the environment'}`,
        `base URL  ${status.base_url}`,
        `user      ${sanitize(status.user_email)}${who}`,
        `key       ${status.key}, from ${storages[status.key_from]}; it ${works}`,
      ].join('\n')
    },
  }
}

export function profilesView(profiles: readonly ProfileEntry[]): ListView<ProfileEntry> {
  return {
    rows: profiles,
    columns: [
      { name: 'current', value: (row) => row.current, show: (row) => (row.current ? '*' : ' ') },
      { name: 'profile', value: (row) => row.profile },
      { name: 'base_url', value: (row) => row.base_url },
      { name: 'user_email', value: (row) => row.user_email },
      { name: 'key', value: (row) => row.key },
      { name: 'key_from', value: (row) => row.key_from },
      { name: 'webhook_secret_from', value: (row) => row.webhook_secret_from, extra: true },
    ],
    empty: 'No profiles. Add one with: refcheck auth login',
  }
}

export function switchView(answer: { profile: string }): View {
  return { json: answer, text: () => `Profile "${answer.profile}" is now in use.` }
}

export function logoutView(result: LogoutResult): View {
  return {
    json: result,
    text: (terminal) => {
      const left =
        result.left_in_keychain.length === 0
          ? ''
          : `\nThese entries could not be removed from the keychain: ${result.left_in_keychain.join(', ')}. They are no longer used.`
      return wrapped(
        `Profile "${result.profile}", its key and its secrets are removed.${left}`,
        terminal.columns,
      )
    },
  }
}

/** `all`: before a choice was made among them, to say what there is to choose. */
export function usersView(users: readonly User[], all: readonly User[]): ListView<User> {
  const known = (values: readonly string[]): string => [...new Set(values)].sort().join(', ') || '-'
  return {
    rows: users,
    columns: [
      { name: 'email', value: (row) => row.email, whole: true },
      { name: 'first_name', value: (row) => row.first_name },
      { name: 'last_name', value: (row) => row.last_name },
      { name: 'role', value: (row) => row.role },
      { name: 'teams', value: (row) => row.teams.map((team) => team.name).join('; ') },
      { name: 'job_title', value: (row) => row.job_title },
      { name: 'permissions', value: (row) => row.permissions?.join('; '), extra: true },
      { name: 'id', value: (row) => row.id, extra: true },
    ],
    empty: [
      'No users match.',
      `Roles: ${known(all.map(({ role }) => role))}`,
      `Teams: ${known(all.flatMap(({ teams }) => teams.map(({ name }) => name)))}`,
    ].join('\n'),
  }
}

export function pingView(answer: { base_url: string; status: string; latency_ms: number }): View {
  return {
    json: answer,
    text: (terminal) =>
      `${styled(terminal, 'green', 'up')}  ${sanitize(answer.base_url)} answered "${sanitize(answer.status)}" in ${answer.latency_ms} ms`,
  }
}
