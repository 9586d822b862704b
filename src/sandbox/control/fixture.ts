import type { CheckInformation } from '../../contract/package-schema.ts'
import type {
  ApiKey,
  Organisation,
  PackageRecord,
  Product,
  Role,
  Settings,
  Snapshot,
  Team,
  UserRecord,
} from '../service/state.ts'
import type { SeededRandom } from '../service/seeded-random.ts'

/** What a sandbox is to hold, as a person writes it down. What is left out is filled in from the seed. */
export interface Fixture {
  organisations: FixtureOrganisation[]
}

interface FixtureOrganisation {
  name: string
  credits?: number | null | undefined
  trial?: Organisation['trial'] | undefined
  subscription?: Organisation['subscription'] | undefined
  webhook?: { url?: string | undefined; secret?: string | undefined } | undefined
  /** The last one that is not revoked is given out; without any, one is made. */
  keys?: { key: string; revoked?: boolean | undefined }[] | undefined
  teams?: { name: string; active?: boolean | undefined }[] | undefined
  users: FixtureUser[]
  packages?: FixturePackage[] | undefined
}

interface FixtureUser {
  email: string
  first_name: string
  last_name: string
  role: Role
  /** By product, the level by its name or its number. */
  permissions?: Partial<Record<Product, number>> | undefined
  /** By name. */
  teams?: string[] | undefined
  job_title?: string | undefined
  active?: boolean | undefined
}

interface FixturePackage {
  id: number
  name: string
  status?: PackageRecord['status'] | undefined
  /** The roles it is for; left out: for all. */
  roles?: Role[] | undefined
  details?:
    | {
        reference_survey?: PackageRecord['reference_survey'] | undefined
        background_checks?: PackageRecord['background_checks'] | undefined
      }
    | undefined
  additional_information?: CheckInformation[] | undefined
}

/** The state a sandbox with this fixture begins with. */
export function seedFrom(fixture: Fixture, rng: SeededRandom, settings: Settings): Snapshot {
  const parts = fixture.organisations.map((given, index) => partOf(given, index, rng))
  return {
    version: 1,
    settings,
    organisations: parts.map(({ organisation }) => organisation),
    keys: parts.flatMap(({ keys }) => keys),
    teams: parts.flatMap(({ teams }) => teams),
    users: parts.flatMap(({ users }) => users),
    packages: parts.flatMap(({ packages }) => packages),
    requests: [],
    deliveries: [],
    quota: {},
  }
}

function partOf(given: FixtureOrganisation, index: number, rng: SeededRandom) {
  const organisation: Organisation = {
    id: rng.uuid('organisation', index),
    name: given.name,
    credits: given.credits ?? null,
    trial: given.trial ?? 'none',
    subscription: given.subscription ?? 'active',
    webhook_url: given.webhook?.url ?? null,
    webhook_secret: given.webhook?.secret ?? rng.text(32, 'webhook secret', index),
  }
  const { id } = organisation
  const givenKeys = given.keys ?? [{ key: rng.text(32, 'api key', index) }]
  const teams = (given.teams ?? []).map(({ name, active }, team): Team => ({
    id: rng.uuid('team', index, team),
    organisation_id: id,
    name,
    active: active ?? true,
  }))
  return {
    organisation,
    keys: givenKeys.map(({ key, revoked }): ApiKey => ({
      key,
      organisation_id: id,
      revoked: revoked ?? false,
    })),
    teams,
    users: given.users.map((user) => userOf(user, id, teams, rng)),
    packages: (given.packages ?? []).map((pack) => packageOf(pack, id)),
  }
}

function userOf(given: FixtureUser, organisationId: string, teams: Team[], rng: SeededRandom): UserRecord {
  return {
    id: rng.uuid('user', organisationId, given.email.toLowerCase()),
    organisation_id: organisationId,
    first_name: given.first_name,
    last_name: given.last_name,
    email: given.email,
    role: given.role,
    permissions: given.permissions ?? {},
    team_ids: teams.filter(({ name }) => given.teams?.includes(name)).map((team) => team.id),
    job_title: given.job_title ?? '',
    active: given.active ?? true,
  }
}

function packageOf(given: FixturePackage, organisationId: string): PackageRecord {
  return {
    id: given.id,
    organisation_id: organisationId,
    name: given.name,
    status: given.status ?? 'ACTIVE',
    roles: given.roles ?? null,
    reference_survey: given.details?.reference_survey ?? null,
    background_checks: given.details?.background_checks ?? [],
    additional_information: given.additional_information ?? [],
  }
}

/** The people and things of the built-in fixture, by what a test wants them for. */
export const people = {
  owner: 'olive.owner@example.com',
  admin: 'ada.admin@example.com',
  support: 'sam.support@example.com',
  member: 'max.member@example.com',
  contributor: 'cora.contributor@example.com',
  inactive: 'ivy.inactive@example.com',
  stranger: 'stan.stranger@example.net',
} as const

export const packageIds = {
  /** ACTIVE: a survey, two background checks, additional information of all six types. */
  full: 101,
  /** ACTIVE: background checks only, nothing else asked for. */
  simple: 102,
  /** ACTIVE: a survey only. */
  references: 103,
  /** ACTIVE, for owners and admins. */
  executive: 104,
  inactive: 105,
  disabled: 106,
  /** ACTIVE, but of the other organisation. */
  foreign: 201,
} as const

/** What the sandbox holds without a fixture. Keys and secrets come from the seed. */
export function defaultSeed(rng: SeededRandom, settings: Settings): Snapshot {
  const home = newOrganisation(rng, 'Sandbox Pty Ltd')
  const other = newOrganisation(rng, 'Elsewhere Ltd')
  const teams: Team[] = [
    { id: rng.uuid('team', 'hiring'), organisation_id: home.id, name: 'Hiring', active: true },
    { id: rng.uuid('team', 'compliance'), organisation_id: home.id, name: 'Compliance', active: true },
    { id: rng.uuid('team', 'former'), organisation_id: home.id, name: 'Former projects', active: false },
  ]
  return {
    version: 1,
    settings,
    organisations: [home, other],
    keys: [home, other].map(({ id, name }) => ({
      key: rng.text(32, 'api key', name),
      organisation_id: id,
      revoked: false,
    })),
    teams,
    users: seededUsers(rng, home, other, teams),
    packages: [
      ...homePackages.map((pack) => owned(pack, home)),
      owned({ ...simple, id: packageIds.foreign, name: 'Elsewhere screen' }, other),
    ],
    requests: [],
    deliveries: [],
    quota: {},
  }
}

function newOrganisation(rng: SeededRandom, name: string): Organisation {
  return {
    id: rng.uuid('organisation', name),
    name,
    credits: null,
    trial: 'none',
    subscription: 'active',
    webhook_url: null,
    webhook_secret: rng.text(32, 'webhook secret', name),
  }
}

function seededUsers(
  rng: SeededRandom,
  home: Organisation,
  other: Organisation,
  teams: Team[],
): UserRecord[] {
  const [hiring, compliance, former] = teams.map((team) => team.id)
  const user = (email: string, role: Role, rest: Partial<UserRecord> = {}): UserRecord => {
    const [first = '', last = ''] = (email.split('@')[0] ?? '').split('.').map(capital)
    return {
      id: rng.uuid('user', email),
      organisation_id: home.id,
      first_name: first,
      last_name: last,
      email,
      role,
      permissions: {},
      team_ids: [],
      job_title: '',
      active: true,
      ...rest,
    }
  }
  const inTeams = (...ids: (string | undefined)[]): string[] => ids.filter((id) => id !== undefined)
  return [
    user(people.owner, 'owner', { team_ids: inTeams(hiring, compliance), job_title: 'Head of People' }),
    user(people.admin, 'admin', { team_ids: inTeams(compliance), job_title: 'Screening Manager' }),
    user(people.support, 'support'),
    user(people.member, 'member', {
      permissions: { reference: 3, exit: 0, bgc: 3, pulse: 5, integration: 1 },
      team_ids: inTeams(hiring, former),
      job_title: 'Recruiter',
    }),
    user(people.contributor, 'member', {
      permissions: { reference: 4, exit: 2, bgc: 4, pulse: 0, integration: 5 },
      team_ids: inTeams(compliance),
      job_title: 'Referee Coordinator',
    }),
    user(people.inactive, 'member', { permissions: { reference: 3, bgc: 3 }, active: false }),
    user(people.stranger, 'owner', { organisation_id: other.id }),
  ]
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

const field = (type: string, required: boolean, description: string) => ({ type, required, description })

const referenceInformation: CheckInformation = {
  display_name: 'Professional reference survey',
  code: 'reference',
  fields: {
    position_title: field('string', true, 'Title of the position the recipient has applied for.'),
    referee_relationships: field(
      'array',
      false,
      'Whom the referees should be, for example ["direct manager", "peer"].',
    ),
  },
}

const policeInformation: CheckInformation = {
  display_name: 'National police check',
  code: 'ncc_acic',
  fields: {
    date_of_birth: field('string', true, 'Date of birth as an ISO date, for example 1990-04-30.'),
    licence_number: field('string', false, 'Driver licence number, without spaces.'),
    is_volunteer: field(
      'boolean',
      true,
      'Whether the check is for unpaid work; volunteers pay a reduced fee.',
    ),
    previous_names: field('array', true, 'Every other name the recipient has used; an empty list if none.'),
    residential_address: field(
      'object',
      true,
      'Current address: street, suburb, state, postcode and country.',
    ),
  },
}

const creditInformation: CheckInformation = {
  display_name: 'Credit history check',
  code: 'icrc',
  fields: {
    years_of_history: field('integer', true, 'How many years to look back, 1 to 7.'),
    annual_income: field('number', true, 'Declared gross income a year, in dollars and cents.'),
  },
}

const policeCheck = { check_name: 'National police check', partner_name: 'Verity Checks' }
const creditCheck = { check_name: 'Credit history check', partner_name: 'Ledgerline Bureau' }
const identityCheck = { check_name: 'Identity check', partner_name: 'Facet Identity' }

type Unowned = Omit<PackageRecord, 'organisation_id'>

function owned(pack: Unowned, organisation: Organisation): PackageRecord {
  return { ...pack, organisation_id: organisation.id }
}

const simple: Unowned = {
  id: packageIds.simple,
  name: 'Identity check only',
  status: 'ACTIVE',
  roles: null,
  reference_survey: null,
  background_checks: [identityCheck],
  additional_information: [],
}

const homePackages: Unowned[] = [
  {
    id: packageIds.full,
    name: 'Standard employment screen',
    status: 'ACTIVE',
    roles: null,
    reference_survey: { id: 11, name: 'Professional reference survey', min_referees: 2 },
    background_checks: [policeCheck, creditCheck],
    additional_information: [referenceInformation, policeInformation, creditInformation],
  },
  simple,
  {
    id: packageIds.references,
    name: 'Two references',
    status: 'ACTIVE',
    roles: null,
    reference_survey: { id: 12, name: null, min_referees: 2 },
    background_checks: [],
    additional_information: [],
  },
  {
    id: packageIds.executive,
    name: 'Executive screen',
    status: 'ACTIVE',
    roles: ['owner', 'admin'],
    reference_survey: { id: 13, name: 'Executive reference survey', min_referees: 3 },
    background_checks: [policeCheck, creditCheck, identityCheck],
    additional_information: [policeInformation],
  },
  {
    id: packageIds.inactive,
    name: 'Graduate screen (paused)',
    status: 'INACTIVE',
    roles: null,
    reference_survey: { id: 14, name: 'Academic reference survey', min_referees: 1 },
    background_checks: [{ check_name: null, partner_name: null }],
    additional_information: [],
  },
  {
    id: packageIds.disabled,
    name: 'Volunteer screen (withdrawn)',
    status: 'DISABLED',
    roles: null,
    reference_survey: null,
    background_checks: [policeCheck],
    additional_information: [policeInformation],
  },
]
