/** Header of a file of people. */
export const header = 'first_name,last_name,email,phone'

export interface Person {
  first: string
  last: string
  email: string
  phone: string
}

export function person(at: number, more: Partial<Person> = {}): Person {
  return {
    first: ['Charlotte', 'Oliver', 'Amelia', 'Jack'][at % 4] ?? '',
    last: `Person${at}`,
    email: `person${at}@example.com`,
    phone: `+61400${String(100_000 + at * 17)}`,
    ...more,
  }
}

export const people = (count: number, first = 0): Person[] =>
  Array.from({ length: count }, (_, at) => person(first + at))

export const csvLines = (all: readonly Person[]): string[] => [
  header,
  ...all.map(({ first, last, email, phone }) => [first, last, email, phone].join(',')),
]

export const batchRunArguments = (file: string, ...more: string[]): string[] => [
  'batch',
  'run',
  file,
  '--package',
  '102',
  '--yes',
  '--json',
  ...more,
]

export function createArguments({ first, last, email, phone }: Person, ...more: string[]): string[] {
  const flags = ['--first-name', first, '--last-name', last, '--email', email, '--phone', phone]
  return ['request', 'create', '--package', '102', ...flags, '--yes', '--json', ...more]
}
