import type { Organisation, Settings, Snapshot, Team } from '../service/schemas.ts'
import type { SeededRandom } from '../service/seeded-random.ts'
import type { Fixture } from './read-inputs.ts'

type FixtureOrganisation = Fixture['organisations'][number]
type FixtureUser = FixtureOrganisation['users'][number]
type FixturePackage = NonNullable<FixtureOrganisation['packages']>[number]
type Information = NonNullable<FixturePackage['additional_information']>[number]
type FieldType = Information['fields'][string]['type']
type Part = string | number

/** Names from which the random ids and secrets of an organisation are derived. */
interface Names {
  organisation: (name: string, index: number) => Part
  team: (name: string, index: number, organisation: number) => Part[]
  user: (email: string, organisationId: string) => Part[]
}

const namesByPosition: Names = {
  organisation: (_name, index) => index,
  team: (_name, index, organisation) => [organisation, index],
  user: (email, organisationId) => [organisationId, email],
}

/** Returns the initial state of a sandbox with this fixture; what the fixture omits is derived from the seed. */
export function seedFrom(
  { organisations }: Fixture,
  rng: SeededRandom,
  settings: Settings,
  names: Names = namesByPosition,
): Snapshot {
  const parts = organisations.map((given, index) => partOf(given, index, rng, names))
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

function partOf(given: FixtureOrganisation, index: number, rng: SeededRandom, names: Names) {
  const drawn = names.organisation(given.name, index)
  const id = rng.uuid('organisation', drawn)
  const organisation: Organisation = {
    id,
    name: given.name,
    credits: given.credits ?? null,
    trial: given.trial ?? 'none',
    subscription: given.subscription ?? 'active',
    webhook_url: given.webhook?.url ?? null,
    webhook_secret: given.webhook?.secret ?? rng.text(32, 'webhook secret', drawn),
  }
  // The last key that is not revoked is the one that the sandbox reports.
  const keys = given.keys ?? [{ key: rng.text(32, 'api key', drawn) }]
  const teams = (given.teams ?? []).map(({ name, active = true }, team): Team => ({
    id: rng.uuid('team', ...names.team(name, team, index)),
    organisation_id: id,
    name,
    active,
  }))
  return {
    organisation,
    keys: keys.map(({ key, revoked = false }) => ({ key, organisation_id: id, revoked })),
    teams,
    users: given.users.map((one) => ({
      id: rng.uuid('user', ...names.user(one.email.toLowerCase(), id)),
      organisation_id: id,
      first_name: one.first_name,
      last_name: one.last_name,
      email: one.email,
      role: one.role,
      permissions: one.permissions ?? {},
      team_ids: teams.filter(({ name }) => one.teams?.includes(name)).map((team) => team.id),
      job_title: one.job_title ?? '',
      active: one.active ?? true,
    })),
    packages: (given.packages ?? []).map((pack) => ({
      id: pack.id,
      organisation_id: id,
      name: pack.name,
      status: pack.status ?? 'ACTIVE',
      roles: pack.roles ?? null,
      reference_survey: pack.details?.reference_survey ?? null,
      background_checks: pack.details?.background_checks ?? [],
      additional_information: pack.additional_information ?? [],
    })),
  }
}

/** E-mails of the built-in fixture, by the role that a test needs. */
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
  /** ACTIVE: a survey, two background checks, additional information with fields of all six types. */
  full: 101,
  /** ACTIVE: one background check, no additional information. */
  simple: 102,
  /** ACTIVE: only a survey. */
  references: 103,
  /** ACTIVE, for owners and admins. */
  executive: 104,
  inactive: 105,
  disabled: 106,
  /** ACTIVE, but belongs to the other organisation. */
  foreign: 201,
} as const

const field = (type: FieldType, required: boolean, description: string) => ({ type, required, description })

const referenceInformation: Information = {
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

const policeInformation: Information = {
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

const creditInformation: Information = {
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

const simple: FixturePackage = {
  id: packageIds.simple,
  name: 'Identity check only',
  details: { background_checks: [identityCheck] },
}

/** Makes a user of the fixture, whose name is taken from the e-mail. */
function user(email: string, role: FixtureUser['role'], rest: Partial<FixtureUser> = {}): FixtureUser {
  const [first_name = '', last_name = ''] = (email.split('@')[0] ?? '')
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return { email, role, first_name, last_name, ...rest }
}

/**
 * Ids and secrets of the built-in fixture do not depend on positions, so that they stay the same when entries are
 * added.
 */
export const builtInNames: Names = {
  organisation: (name) => name,
  team: (name) => [name.split(' ')[0]?.toLowerCase() ?? ''],
  user: (email) => [email],
}

/** The data of a sandbox without a fixture; keys and secrets are derived from the seed. */
export const builtIn: Fixture = {
  organisations: [
    {
      name: 'Sandbox Pty Ltd',
      teams: [{ name: 'Hiring' }, { name: 'Compliance' }, { name: 'Former projects', active: false }],
      users: [
        user(people.owner, 'owner', { teams: ['Hiring', 'Compliance'], job_title: 'Head of People' }),
        user(people.admin, 'admin', { teams: ['Compliance'], job_title: 'Screening Manager' }),
        user(people.support, 'support'),
        user(people.member, 'member', {
          permissions: { reference: 3, exit: 0, bgc: 3, pulse: 5, integration: 1 },
          teams: ['Hiring', 'Former projects'],
          job_title: 'Recruiter',
        }),
        user(people.contributor, 'member', {
          permissions: { reference: 4, exit: 2, bgc: 4, pulse: 0, integration: 5 },
          teams: ['Compliance'],
          job_title: 'Referee Coordinator',
        }),
        user(people.inactive, 'member', { permissions: { reference: 3, bgc: 3 }, active: false }),
      ],
      packages: [
        {
          id: packageIds.full,
          name: 'Standard employment screen',
          details: {
            reference_survey: { id: 11, name: 'Professional reference survey', min_referees: 2 },
            background_checks: [policeCheck, creditCheck],
          },
          additional_information: [referenceInformation, policeInformation, creditInformation],
        },
        simple,
        {
          id: packageIds.references,
          name: 'Two references',
          details: { reference_survey: { id: 12, name: null, min_referees: 2 } },
        },
        {
          id: packageIds.executive,
          name: 'Executive screen',
          roles: ['owner', 'admin'],
          details: {
            reference_survey: { id: 13, name: 'Executive reference survey', min_referees: 3 },
            background_checks: [policeCheck, creditCheck, identityCheck],
          },
          additional_information: [policeInformation],
        },
        {
          id: packageIds.inactive,
          name: 'Graduate screen (paused)',
          status: 'INACTIVE',
          details: {
            reference_survey: { id: 14, name: 'Academic reference survey', min_referees: 1 },
            background_checks: [{ check_name: null, partner_name: null }],
          },
        },
        {
          id: packageIds.disabled,
          name: 'Volunteer screen (withdrawn)',
          status: 'DISABLED',
          details: { background_checks: [policeCheck] },
          additional_information: [policeInformation],
        },
      ],
    },
    {
      name: 'Elsewhere Ltd',
      users: [user(people.stranger, 'owner')],
      packages: [{ ...simple, id: packageIds.foreign, name: 'Elsewhere screen' }],
    },
  ],
}
