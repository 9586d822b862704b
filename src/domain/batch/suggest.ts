import { nearest } from '../form/nearest.ts'

/** What people, and the systems they export from, call the recipient's four fields. Letters and digits only. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  first_name: [
    'givenname',
    'givennames',
    'forename',
    'firstname',
    'first',
    'given',
    'prename',
    'vorname',
    'prenom',
    'candidatefirstname',
    'legalfirstname',
  ],
  last_name: [
    'surname',
    'familyname',
    'lastname',
    'last',
    'family',
    'nachname',
    'nom',
    'candidatelastname',
    'legallastname',
  ],
  email: [
    'email',
    'emailaddress',
    'mail',
    'mailaddress',
    'personalemail',
    'workemail',
    'candidateemail',
    'primaryemail',
  ],
  phone: [
    'phone',
    'phonenumber',
    'mobile',
    'mobilenumber',
    'mobilephone',
    'cell',
    'cellphone',
    'telephone',
    'tel',
    'telefon',
    'handy',
    'contactnumber',
    'primaryphone',
    'candidatephone',
  ],
  package_id: ['package', 'packageid', 'packageno', 'packagenumber'],
}

/**
 * The column that a header probably means: the same letters, another word for it, the same field without its
 * code, or a slip of the finger. Never applied unless the person says so.
 */
export function suggestColumn(header: string, names: readonly string[]): string | undefined {
  const letters = bare(header)
  if (letters === '') return undefined
  const same = names.find((name) => bare(name) === letters)
  if (same !== undefined) return same
  const other = names.find((name) => otherNames[name]?.some((each) => forms(letters).includes(each)) === true)
  if (other !== undefined) return other
  const ends = names.filter((name) => bare(name.slice(name.indexOf('.') + 1)) === letters)
  if (ends.length === 1) return ends[0]
  return nearest(header.trim(), names)
}

/** A header without its plural and without whose it is: "Candidate Email(s)", "Person : Email". */
function forms(letters: string): string[] {
  const own = letters.replace(
    /^(?:candidate|person|people|applicant|employee|recipient|contact|worker)s?(?=.)/,
    '',
  )
  return [letters, own].flatMap((each) => [each, each.replace(/s$/, ''), each.replace(/es$/, '')])
}

/** Letters and digits alone, accents folded. */
function bare(text: string): string {
  return text
    .slice(0, 100)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}
