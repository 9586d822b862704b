import type { CheckInformation } from '../../contract/package-schema.ts'
import type { SeededRandom } from '../service/seeded-random.ts'
import type {
  ApiKey,
  Organisation,
  PackageRecord,
  Product,
  Role,
  Team,
  UserRecord,
} from '../service/records.ts'
import type { Settings, Snapshot } from '../service/state.ts'

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
  const parts = fixture.organisations.map((given, place) => partOf(given, place, rng))
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

function partOf(given: FixtureOrganisation, place: number, rng: SeededRandom) {
  const organisation: Organisation = {
    id: rng.uuid('organisation', place),
    name: given.name,
    credits: given.credits ?? null,
    trial: given.trial ?? 'none',
    subscription: given.subscription ?? 'active',
    webhook_url: given.webhook?.url ?? null,
    webhook_secret: given.webhook?.secret ?? rng.text(32, 'webhook secret', place),
  }
  const { id } = organisation
  const givenKeys = given.keys ?? [{ key: rng.text(32, 'api key', place) }]
  const teams = (given.teams ?? []).map(({ name, active }, team): Team => ({
    id: rng.uuid('team', place, team),
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
