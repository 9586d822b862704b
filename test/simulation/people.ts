import type { RequestBody, Recipient } from '../../src/contract/request.ts'
import type { NewRow } from '../../src/domain/batch/batch.ts'

/** A real person, whose data may be spelt in several ways. */
export interface Human {
  number: number
  /** All spellings of the person's data in files; the first is the usual one. */
  spellings: Recipient[]
}

/** The package that is ordered. */
export interface OfferedPackage {
  id: number
  /** Whether it requires a field that its predecessor did not. */
  hasConsent: boolean
}

const firstNames = ['Charlotte', 'Oliver', 'Amelia', 'Jack', 'Isla', 'Noah', 'Mia', 'Leo', 'Grace', 'Theo']
const lastNames = ['Nguyen', 'Smith', 'Williams', 'Kaur', 'Brown', 'Rossi', 'Taylor', 'Singh']

/** Makes people, each with several spellings. In some seeds three of them share the e-mail of an agency. */
export function makePeople(count: number, rng: () => number): Human[] {
  const atAgency = rng() < 0.3 ? 3 : 0
  return Array.from({ length: count }, (_, at) => {
    const usual: Recipient = {
      first_name: firstNames[at % firstNames.length] ?? '',
      last_name:
        `${lastNames[at % lastNames.length] ?? ''} ${['', 'Adams', 'Berg', 'Costa'][Math.floor(at / 8)] ?? at}`.trim(),
      email: at < atAgency ? 'agency@example.com' : `human${at}@example.com`,
      phone: `+61400${String(at * 7919 + 1000).padStart(6, '0')}`,
    }
    return {
      number: at,
      spellings: [
        usual,
        { ...usual, phone: `+61411${String(at * 7907 + 1000).padStart(6, '0')}` },
        { ...usual, first_name: `${usual.first_name}e` },
        { ...usual, email: usual.email.toUpperCase() },
      ],
    }
  })
}

/** The person with these data. A user is assumed to know who is meant. */
export function findHuman(all: readonly Human[], recipient: Recipient): Human {
  const found = all.find(({ spellings }) =>
    spellings.some(
      ({ first_name, last_name }) => first_name === recipient.first_name && last_name === recipient.last_name,
    ),
  )
  if (found === undefined)
    throw new Error(`no person is called ${recipient.first_name} ${recipient.last_name}`)
  return found
}

export function bodyFor(recipient: Recipient, { id, hasConsent }: OfferedPackage): RequestBody {
  const consent = [{ code: 'consent', fields: { consent_method: 'email' } }]
  return { package_id: id, recipient, ...(hasConsent ? { additional_information: consent } : {}) }
}

export function rowFor(row: number, recipient: Recipient, offer: OfferedPackage): NewRow {
  const body = Buffer.from(JSON.stringify(bodyFor(recipient, offer)))
  return { row, state: 'pending', packageId: offer.id, recipient, body }
}
