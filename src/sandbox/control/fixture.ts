import type { Organisation, Settings, Snapshot, Team } from '../service/schemas.ts'
import type { SeededRandom } from '../service/seeded-random.ts'
import type { Fixture } from './read-inputs.ts'

type FixtureOrganisation = Fixture['organisations'][number]
type FixtureUser = FixtureOrganisation['users'][number]
type FixturePackage = NonNullable<FixtureOrganisation['packages']>[number]
type Information = NonNullable<FixturePackage['additional_information']>[number]
type FieldType = Information['fields'][string]['type']
/**
 * Returns the initial state of a sandbox with this fixture, or with the built-in one; what the fixture omits is derived
 * from the seed.
 */
export function createInitialState(
  fixture: Fixture | undefined,
  rng: SeededRandom,
  settings: Settings,
): Snapshot {
  const organisationParts = (fixture ?? builtInFixture).organisations.map((organisation, index) =>
    createOrganisation(organisation, index, rng, fixture === undefined),
  )
  return {
    version: 1,
    settings,
    organisations: organisationParts.map(({ organisation }) => organisation),
    keys: organisationParts.flatMap(({ keys }) => keys),
    teams: organisationParts.flatMap(({ teams }) => teams),
    users: organisationParts.flatMap(({ users }) => users),
    packages: organisationParts.flatMap(({ packages }) => packages),
    requests: [],
    deliveries: [],
    quota: {},
  }
}

/**
 * Creates the records of an organisation. The ids and secrets of the built-in fixture are derived from names instead of
 * positions, so that they stay the same when entries are added.
 */
function createOrganisation(
  fixture: FixtureOrganisation,
  index: number,
  rng: SeededRandom,
  isBuiltIn: boolean,
) {
  const seedName = isBuiltIn ? fixture.name : index
  const id = rng.uuid('organisation', seedName)
  const organisation: Organisation = {
    id,
    name: fixture.name,
    credits: fixture.credits ?? null,
    trial: fixture.trial ?? 'none',
    subscription: fixture.subscription ?? 'active',
    webhook_url: fixture.webhook?.url ?? null,
    webhook_secret: fixture.webhook?.secret ?? rng.text(32, 'webhook secret', seedName),
  }
  // The last key that is not revoked is the one that the sandbox reports.
  const keys = fixture.keys ?? [{ key: rng.text(32, 'api key', seedName) }]
  const teams = (fixture.teams ?? []).map(({ name, active = true }, teamIndex): Team => ({
    id: isBuiltIn
      ? rng.uuid('team', name.split(' ')[0]?.toLowerCase() ?? '')
      : rng.uuid('team', index, teamIndex),
    organisation_id: id,
    name,
    active,
  }))
  return {
    organisation,
    keys: keys.map(({ key, revoked = false }) => ({ key, organisation_id: id, revoked })),
    teams,
    users: fixture.users.map((user) => ({
      id: rng.uuid('user', ...(isBuiltIn ? [] : [id]), user.email.toLowerCase()),
      organisation_id: id,
      first_name: user.first_name,
      last_name: user.last_name,
      email: user.email,
      role: user.role,
      permissions: user.permissions ?? {},
      team_ids: teams.filter(({ name }) => user.teams?.includes(name)).map((team) => team.id),
      job_title: user.job_title ?? '',
      active: user.active ?? true,
    })),
    packages: (fixture.packages ?? []).map((pack) => ({
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
  /** ACTIVE: a reference survey, two background checks, additional information with fields of all six types. */
  full: 101,
  /** ACTIVE: one background check, no additional information. */
  simple: 102,
  /** ACTIVE: only a reference survey. */
  references: 103,
  /** ACTIVE, for owners and admins. */
  executive: 104,
  inactive: 105,
  disabled: 106,
  /** ACTIVE, but belongs to the other organisation. */
  foreign: 201,
} as const

const makeField = (type: FieldType, required: boolean, description: string) => ({
  type,
  required,
  description,
})

const referenceInformation: Information = {
  display_name: 'Professional reference survey',
  code: 'reference',
  fields: {
    position_title: makeField('string', true, 'Title of the position the recipient has applied for.'),
    referee_relationships: makeField(
      'array',
      false,
      'Whom the referees should be, for example "direct manager" and "peer".',
    ),
  },
}

const policeInformation: Information = {
  display_name: 'National police check',
  code: 'ncc_acic',
  fields: {
    date_of_birth: makeField('string', true, 'Date of birth as an ISO date, for example 1990-04-30.'),
    licence_number: makeField('string', false, 'Driver licence number, without spaces.'),
    is_volunteer: makeField(
      'boolean',
      true,
      'Whether the check is for unpaid work; volunteers pay a reduced fee.',
    ),
    previous_names: makeField(
      'array',
      true,
      'Every other name the recipient has used; an empty list if none.',
    ),
    residential_address: makeField(
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
    years_of_history: makeField('integer', true, 'How many years to look back, 1 to 7.'),
    annual_income: makeField('number', true, 'Declared gross income a year, in dollars and cents.'),
  },
}

const policeCheck = { check_name: 'National police check', partner_name: 'Verity Checks' }
const creditCheck = { check_name: 'Credit history check', partner_name: 'Ledgerline Bureau' }
const identityCheck = { check_name: 'Identity check', partner_name: 'Facet Identity' }

const simplePackage: FixturePackage = {
  id: packageIds.simple,
  name: 'Identity check only',
  details: { background_checks: [identityCheck] },
}

/** Makes a user of the fixture, whose name is taken from the e-mail. */
function makeUser(
  email: string,
  role: FixtureUser['role'],
  settings: Partial<FixtureUser> = {},
): FixtureUser {
  const [first_name = '', last_name = ''] = (email.split('@')[0] ?? '')
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return { email, role, first_name, last_name, ...settings }
}

/** The data of a sandbox without a fixture; keys and secrets are derived from the seed. */
const builtInFixture: Fixture = {
  organisations: [
    {
      name: 'Sandbox Pty Ltd',
      teams: [{ name: 'Hiring' }, { name: 'Compliance' }, { name: 'Former projects', active: false }],
      users: [
        makeUser(people.owner, 'owner', { teams: ['Hiring', 'Compliance'], job_title: 'Head of People' }),
        makeUser(people.admin, 'admin', { teams: ['Compliance'], job_title: 'Screening Manager' }),
        makeUser(people.support, 'support'),
        makeUser(people.member, 'member', {
          permissions: { reference: 3, exit: 0, bgc: 3, pulse: 5, integration: 1 },
          teams: ['Hiring', 'Former projects'],
          job_title: 'Recruiter',
        }),
        makeUser(people.contributor, 'member', {
          permissions: { reference: 4, exit: 2, bgc: 4, pulse: 0, integration: 5 },
          teams: ['Compliance'],
          job_title: 'Referee Coordinator',
        }),
        makeUser(people.inactive, 'member', { permissions: { reference: 3, bgc: 3 }, active: false }),
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
        simplePackage,
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
      users: [makeUser(people.stranger, 'owner')],
      packages: [{ ...simplePackage, id: packageIds.foreign, name: 'Elsewhere screen' }],
    },
  ],
}
