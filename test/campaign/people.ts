/** Header of a file of people. */
export const header = 'first_name,last_name,email,phone'

export interface Person {
  first: string
  last: string
  email: string
  phone: string
}

export function createPerson(index: number, changes: Partial<Person> = {}): Person {
  return {
    first: ['Charlotte', 'Oliver', 'Amelia', 'Jack'][index % 4] ?? '',
    last: `Person${index}`,
    email: `person${index}@example.com`,
    phone: `+61400${String(100_000 + index * 17)}`,
    ...changes,
  }
}

export const createPeople = (count: number, firstIndex = 0): Person[] =>
  Array.from({ length: count }, (_, index) => createPerson(firstIndex + index))

export const createCsvLines = (people: readonly Person[]): string[] => [
  header,
  ...people.map(({ first, last, email, phone }) => [first, last, email, phone].join(',')),
]

export const createRunArguments = (file: string, ...otherFlags: string[]): string[] => [
  'batch',
  'run',
  file,
  '--package',
  '102',
  '--yes',
  '--json',
  ...otherFlags,
]

export function createRequestArguments(
  { first, last, email, phone }: Person,
  ...otherFlags: string[]
): string[] {
  const flags = ['--first-name', first, '--last-name', last, '--email', email, '--phone', phone]
  return ['request', 'create', '--package', '102', ...flags, '--yes', '--json', ...otherFlags]
}
