/**
 * The command line that orders the simple package for an invented person with the first name `first`. `more` are further
 * flags.
 */
export function orderArguments(first: string, more: readonly string[] = ['--yes']): string[] {
  const name = first.toLowerCase()
  const person = ['--first-name', first, '--last-name', 'Example', '--email', `${name}@example.com`]
  // People with one phone and similar first names may be the same person, so each has a different phone.
  const phone = `+61412345${/\d+$/.exec(first)?.[0].padStart(3, '0') ?? '678'}`
  return ['request', 'create', '--package', '102', ...person, '--phone', phone, ...more]
}

/** Flags for the package that needs additional information of every type. */
export const fullInformation: readonly string[] = [
  'reference.position_title=Nurse',
  'ncc_acic.date_of_birth=1990-04-30',
  'ncc_acic.is_volunteer=no',
  'ncc_acic.previous_names=["Priya Rao"]',
  'ncc_acic.residential_address={"street":"1 High St","postcode":"3000"}',
  'icrc.years_of_history=5',
  'icrc.annual_income=85000.5',
].flatMap((field) => ['--field', field])
