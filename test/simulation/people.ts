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
  /** Whether the package requires a field that its predecessor did not require. */
  hasConsent: boolean
}

const firstNames = ['Charlotte', 'Oliver', 'Amelia', 'Jack', 'Isla', 'Noah', 'Mia', 'Leo', 'Grace', 'Theo']
const lastNames = ['Nguyen', 'Smith', 'Williams', 'Kaur', 'Brown', 'Rossi', 'Taylor', 'Singh']

/** Makes people, each with several spellings. In some seeds three of them share the e-mail of an agency. */
export function makePeople(count: number, rng: () => number): Human[] {
  const agencyCount = rng() < 0.3 ? 3 : 0
  return Array.from({ length: count }, (_, index) => {
    const usual: Recipient = {
      first_name: firstNames[index % firstNames.length] ?? '',
      last_name:
        `${lastNames[index % lastNames.length] ?? ''} ${['', 'Adams', 'Berg', 'Costa'][Math.floor(index / 8)] ?? index}`.trim(),
      email: index < agencyCount ? 'agency@example.com' : `human${index}@example.com`,
      phone: `+61400${String(index * 7919 + 1000).padStart(6, '0')}`,
    }
    return {
      number: index,
      spellings: [
        usual,
        { ...usual, phone: `+61411${String(index * 7907 + 1000).padStart(6, '0')}` },
        { ...usual, first_name: `${usual.first_name}e` },
        { ...usual, email: usual.email.toUpperCase() },
      ],
    }
  })
}

/**
 * Returns the person who has this name in one of the spellings. It simulates a user who knows the people; names
 * are unique.
 */
export function findHuman(people: readonly Human[], recipient: Recipient): Human {
  const human = people.find(({ spellings }) =>
    spellings.some(
      ({ first_name, last_name }) => first_name === recipient.first_name && last_name === recipient.last_name,
    ),
  )
  if (human === undefined)
    throw new Error(`no person is called ${recipient.first_name} ${recipient.last_name}`)
  return human
}

export function createBody(recipient: Recipient, { id, hasConsent }: OfferedPackage): RequestBody {
  const consent = [{ code: 'consent', fields: { consent_method: 'email' } }]
  return { package_id: id, recipient, ...(hasConsent ? { additional_information: consent } : {}) }
}

export function createNewRow(row: number, recipient: Recipient, offer: OfferedPackage): NewRow {
  const body = Buffer.from(JSON.stringify(createBody(recipient, offer)))
  return { row, state: 'pending', packageId: offer.id, recipient, body }
}
