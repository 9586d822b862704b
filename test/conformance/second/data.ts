/*
 * A second service, written from the API document alone. It imports nothing of src, and takes another way than the
 * sandbox wherever the text leaves one open.
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

export interface Pack {
  organisation: string
  id: number
  name: string
  status: 'ACTIVE' | 'INACTIVE' | 'DISABLED'
  /** Roles that see it. */
  roles: string[]
  survey: { id: number; name: string | null; min_referees: number } | null
  checks: { check_name: string | null; partner_name: string | null }[]
  information: { display_name: string; code: string; fields: Record<string, Field> }[]
}

const uuid = (head: string): string => `${head}-1111-4111-8111-0123456789ab`

const north = { id: uuid('7ea00001'), name: 'North', active: true }
export const closedTeam = { id: uuid('7ea00002'), name: 'Closed', active: false }

const everyone = ['owner', 'admin', 'member', 'support']

export const home = 'home'
export const abroad = 'abroad'
export const keys = { home: 'HomeKey9HomeKey9HomeKey9HomeKey9', abroad: 'FarAway7FarAway7FarAway7FarAway7' }
export const secret = 'second-secret'
export const people = {
  owner: 'olga@second.example.org',
  member: 'mika@second.example.org',
  analyst: 'ana@second.example.org',
  gone: 'gus@second.example.org',
  foreigner: 'fred@far.example.org',
}

export const users = (): User[] => [
  person('0001', home, 'Olga', people.owner, 'owner', { job_title: 'Head of People' }),
  person('0002', home, 'Mika', people.member, 'member', {
    permissions: ['bgc.administrator', 'integration.none', 'reference.requestor'],
  }),
  person('0003', home, 'Ana', people.analyst, 'support', {}),
  person('0004', home, 'Gus', people.gone, 'admin', { active: false }),
  person('0005', abroad, 'Fred', people.foreigner, 'admin', {}),
]

function person(
  number: string,
  organisation: string,
  first: string,
  email: string,
  role: string,
  more: Partial<User>,
): User {
  const own = { id: uuid(`0e5e${number}`), organisation, first_name: first, last_name: 'Second', email, role }
  return { ...own, teams: [north, closedTeam], job_title: '', active: true, ...more }
}

const text = (required: boolean, description: string): Field => ({ type: 'string', required, description })
const typed = (type: string, required: boolean): Field => ({ type, required, description: `A ${type}` })

export const packs = (): Pack[] => [
  {
    organisation: home,
    id: 71,
    name: 'Everything',
    status: 'ACTIVE',
    roles: everyone,
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
          birth_place: text(true, 'Town of birth'),
          born: text(true, 'Date of birth (YYYY-MM-DD)'),
          years: typed('integer', true),
          score: typed('number', false),
          aliases: typed('array', false),
        },
      },
      {
        display_name: 'Right to work',
        code: 'rtw',
        fields: { consent: typed('boolean', true), address: typed('object', true) },
      },
    ],
  },
  pack(72, 'Only a police check', 'ACTIVE', everyone),
  pack(73, 'For owners', 'ACTIVE', ['owner']),
  pack(74, 'Of last year', 'INACTIVE', everyone),
  pack(75, 'Withdrawn', 'DISABLED', everyone),
  { ...pack(81, 'Abroad', 'ACTIVE', everyone), organisation: abroad },
]

function pack(id: number, name: string, status: Pack['status'], roles: string[]): Pack {
  const checks = [{ check_name: null, partner_name: 'Veritas' }]
  return { organisation: home, id, name, status, roles, survey: null, checks, information: [] }
}
