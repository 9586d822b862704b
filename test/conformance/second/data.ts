/*
 * A second service, written from the API document alone. It imports nothing of src, and behaves differently from the
 * sandbox wherever the document leaves a choice.
 */

export interface User {
  organisation: string
  id: string
  first_name: string
  last_name: string
  email: string
  role: string
  permissions?: string[]
  teams: { id: string; name: string; active: boolean }[]
  job_title: string
  active: boolean
}

export interface Field {
  type: string
  required: boolean
  description: string
}

export interface Package {
  organisation: string
  id: number
  name: string
  status: 'ACTIVE' | 'INACTIVE' | 'DISABLED'
  /** Roles that see the package. */
  roles: string[]
  survey: { id: number; name: string | null; min_referees: number } | null
  checks: { check_name: string | null; partner_name: string | null }[]
  information: { display_name: string; code: string; fields: Record<string, Field> }[]
}

const createUuid = (head: string): string => `${head}-1111-4111-8111-0123456789ab`

const openTeam = { id: createUuid('7ea00001'), name: 'North', active: true }
export const closedTeam = { id: createUuid('7ea00002'), name: 'Closed', active: false }

const allRoles = ['owner', 'admin', 'member', 'support']

export const homeOrganisation = 'home'
export const abroad = 'abroad'
export const keys = { home: 'HomeKey9HomeKey9HomeKey9HomeKey9', abroad: 'FarAway7FarAway7FarAway7FarAway7' }
export const secret = 'second-secret'
/** E-mails of users. `gone` is deactivated, and `foreigner` belongs to the organisation `abroad`. */
export const people = {
  owner: 'olga@second.example.org',
  member: 'mika@second.example.org',
  analyst: 'ana@second.example.org',
  gone: 'gus@second.example.org',
  foreigner: 'fred@far.example.org',
}

export const createUsers = (): User[] => [
  createUser('0001', homeOrganisation, 'Olga', people.owner, 'owner', { job_title: 'Head of People' }),
  createUser('0002', homeOrganisation, 'Mika', people.member, 'member', {
    permissions: ['bgc.administrator', 'integration.none', 'reference.requestor'],
  }),
  createUser('0003', homeOrganisation, 'Ana', people.analyst, 'support', {}),
  createUser('0004', homeOrganisation, 'Gus', people.gone, 'admin', { active: false }),
  createUser('0005', abroad, 'Fred', people.foreigner, 'admin', {}),
]

function createUser(
  number: string,
  organisation: string,
  first: string,
  email: string,
  role: string,
  changes: Partial<User>,
): User {
  const base = {
    id: createUuid(`0e5e${number}`),
    organisation,
    first_name: first,
    last_name: 'Second',
    email,
    role,
  }
  return { ...base, teams: [openTeam, closedTeam], job_title: '', active: true, ...changes }
}

const textField = (required: boolean, description: string): Field => ({
  type: 'string',
  required,
  description,
})
const fieldOfType = (type: string, required: boolean): Field => ({ type, required, description: `A ${type}` })

export const createPackages = (): Package[] => [
  {
    organisation: homeOrganisation,
    id: 71,
    name: 'Everything',
    status: 'ACTIVE',
    roles: allRoles,
    survey: { id: 9, name: null, min_referees: 2 },
    checks: [
      { check_name: 'Police', partner_name: 'Veritas' },
      { check_name: 'Right to work', partner_name: null },
    ],
    information: [
      {
        display_name: 'Police check',
        code: 'ncc_acic',
        fields: {
          birth_place: textField(true, 'Town of birth'),
          born: textField(true, 'Date of birth (YYYY-MM-DD)'),
          years: fieldOfType('integer', true),
          score: fieldOfType('number', false),
          aliases: fieldOfType('array', false),
        },
      },
      {
        display_name: 'Right to work',
        code: 'rtw',
        fields: { consent: fieldOfType('boolean', true), address: fieldOfType('object', true) },
      },
    ],
  },
  createPackage(72, 'Only a police check', 'ACTIVE', allRoles),
  createPackage(73, 'For owners', 'ACTIVE', ['owner']),
  createPackage(74, 'Of last year', 'INACTIVE', allRoles),
  createPackage(75, 'Withdrawn', 'DISABLED', allRoles),
  { ...createPackage(81, 'Abroad', 'ACTIVE', allRoles), organisation: abroad },
]

function createPackage(id: number, name: string, status: Package['status'], roles: string[]): Package {
  const checks = [{ check_name: null, partner_name: 'Veritas' }]
  return { organisation: homeOrganisation, id, name, status, roles, survey: null, checks, information: [] }
}
