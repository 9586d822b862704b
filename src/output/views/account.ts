import type { User } from '../../contract/user.ts'
import type {
  LoginResult,
  LogoutResult,
  ProfileEntry,
  SessionStatus,
  SettingEntry,
} from '../../domain/session/session.ts'
import { personName, formatCount } from '../../domain/wording/text.ts'
import { sanitize } from '../../host/text.ts'
import { styled, statusStyle } from '../terminal.ts'
import { type ListView, type View, jsonText } from '../view.ts'
import type { Package } from '../../contract/package.ts'

const storages = { keychain: 'the system keychain', file: 'a private file', environment: 'the environment' }

/** `file` is the path of the credentials file, which contains the key if the key is not in a keychain. */
export function loginView(result: LoginResult, baseUrl: string, file: string): View {
  const { profile, storage, user, replaced } = result
  return {
    json: { profile, base_url: baseUrl, user_email: user.email, key_from: storage, replaced },
    text: (terminal) =>
      [
        `${styled(terminal, 'green', 'Logged in')} to ${baseUrl} as ${sanitize(personName(user))} (${sanitize(user.email)}, ${sanitize(user.role)}).`,
        `Profile "${profile}" is now in use. Its key is in ${storages[storage]}${storage === 'file' ? `, readable only by you: ${file}` : '.'}`,
      ].join('\n'),
  }
}

/**
 * Returns the warning that a new key of an organisation revokes the earlier one ("Authentication", rule 6).
 */
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
      const roleText = status.user === null ? '' : ` (${sanitize(status.user.role)})`
      return [
        `profile   ${status.profile ?? 'none; everything comes from the environment'}`,
        `base URL  ${status.base_url}`,
        `user      ${sanitize(status.user_email)}${roleText}`,
        `key       ${status.key}, from ${storages[status.key_from]}; it ${works}`,
      ].join('\n')
    },
  }
}

export function profilesView(profiles: readonly ProfileEntry[]): ListView<ProfileEntry> {
  return {
    rows: profiles,
    columns: [
      { name: 'current', show: (row) => (row.current ? '*' : ' ') },
      { name: 'profile' },
      { name: 'base_url' },
      { name: 'user_email' },
      { name: 'key' },
      { name: 'key_from' },
      { name: 'webhook_secret_from', extra: true },
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
    text: () => {
      const leftEntriesText =
        result.left_in_keychain.length === 0
          ? ''
          : `\nThese entries could not be removed from the keychain: ${result.left_in_keychain.join(', ')}. They are no longer used.`
      return `Profile "${result.profile}", its key and its secrets are removed.${leftEntriesText}`
    },
  }
}

/** `allUsers` are the users before filtering. If no user matches, the view lists their roles and teams. */
export function usersView(users: readonly User[], allUsers: readonly User[]): ListView<User> {
  const listUnique = (values: readonly string[]): string => [...new Set(values)].sort().join(', ') || '-'
  return {
    rows: users,
    columns: [
      { name: 'email', avoidsWrapping: true },
      { name: 'first_name' },
      { name: 'last_name' },
      { name: 'role' },
      { name: 'teams', value: (row) => row.teams.map((team) => team.name).join('; ') },
      { name: 'job_title' },
      { name: 'permissions', value: (row) => row.permissions?.join('; '), extra: true },
      { name: 'id', extra: true },
    ],
    empty: [
      'No users match.',
      `Roles: ${listUnique(allUsers.map(({ role }) => role))}`,
      `Teams: ${listUnique(allUsers.flatMap(({ teams }) => teams.map(({ name }) => name)))}`,
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

export function settingsView(rows: readonly SettingEntry[]): ListView<SettingEntry> {
  return {
    rows,
    columns: [{ name: 'key' }, { name: 'value' }, { name: 'from' }, { name: 'meaning' }],
    empty: 'There are no settings.',
  }
}

/** Prints only the value, for `$(refcheck config get …)`. */
export function settingView(key: string, value: string): View {
  return { json: { key, value }, text: () => value, isVerbatim: true }
}

export function changedView(json: Record<string, unknown>, sentence: string): View {
  return { json, text: () => sentence }
}

export function packagesView(packages: readonly Package[]): ListView<Package> {
  return {
    rows: packages,
    columns: [
      { name: 'id' },
      { name: 'name' },
      { name: 'status', style: (row) => statusStyle(row.status) },
      { name: 'reference_survey', value: (row) => row.details.reference_survey?.name, show: surveyText },
      {
        name: 'min_referees',
        value: (row) => row.details.reference_survey?.min_referees,
        extra: true,
      },
      { name: 'background_checks', value: (row) => checkNames(row).join('; '), show: checksText },
    ],
    empty: 'No packages match, or this user may see none.',
  }
}

function surveyText(row: Package): string {
  const survey = row.details.reference_survey
  if (survey === null) return '-'
  const referees = formatCount(survey.min_referees, 'referee')
  return survey.name === null ? referees : `${survey.name} (${referees})`
}

function checkNames(row: Package): string[] {
  return row.details.background_checks.map((each) => each.check_name ?? 'unnamed')
}

function checksText(row: Package): string {
  return checkNames(row).join(', ') || '-'
}

interface ServiceAnswer {
  status: number
  headers: Readonly<Record<string, string | readonly string[] | undefined>>
  body: unknown
}

/**
 * Prints an answer of the service unchanged. If `includesHeaders` is true, the HTTP status and the headers
 * are printed first.
 */
export function anyAnswerView({ status, headers, body }: ServiceAnswer, includesHeaders: boolean): View {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => sanitize(`${name}: ${each}`)),
  )
  return {
    isVerbatim: true,
    json: includesHeaders ? { status, headers, body } : body,
    text: () => {
      const headText = includesHeaders ? `${[`HTTP ${status}`, ...lines].join('\n')}\n\n` : ''
      return headText + sanitize(jsonText(body, 2), { keepsLines: true })
    },
  }
}
