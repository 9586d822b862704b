import { type PackageSchema, packageSchema } from '../../../src/contract/package-schema.ts'

const recipient = {
  first_name: { type: 'string', required: true },
  last_name: { type: 'string', required: true },
  email: { type: 'string', required: true },
  phone: { type: 'string', required: true },
}

type Definition = [type: string, required: boolean, description?: string]

/** Returns a package schema that the contract has parsed, as from an answer of the service. */
export function schemaOf(
  checks: Readonly<Record<string, Readonly<Record<string, Definition>>>>,
  id = 12,
): PackageSchema {
  return packageSchema.parse({
    id,
    fields: {
      recipient,
      additional_information: Object.entries(checks).map(([code, fields]) => ({
        code,
        display_name: `Check ${code}`,
        fields: Object.fromEntries(
          Object.entries(fields).map(([name, [type, required, description = '']]) => [
            name,
            { type, required, description },
          ]),
        ),
      })),
    },
  })
}

/** A schema with the recipient and no checks. */
export const plainSchema = schemaOf({}, 7)

/** A schema with required and optional fields of every type, and a check without required fields. */
export const sampleSchema = schemaOf({
  ncc_acic: {
    date_of_birth: ['string', true, 'Date of birth (YYYY-MM-DD)'],
    years_resident: ['integer', false, 'Years at the current address'],
    aliases: ['array', false, 'Other names used'],
  },
  licence: {
    licence_number: ['string', true, 'As printed on the card'],
    points: ['number', false],
    commercial: ['boolean', true, 'May the person drive for hire'],
    issuer: ['object', false, 'Who issued it'],
  },
  notes: { remark: ['string', false] },
})

export const recipientOf = (changes: Readonly<Record<string, unknown>> = {}) => ({
  first_name: 'Ann',
  last_name: 'Lee',
  email: 'ann@example.com',
  phone: '+61400000000',
  ...changes,
})

/** Returns a valid body for sampleSchema. */
export const sampleBody = () => ({
  package_id: 12,
  recipient: recipientOf(),
  additional_information: [
    { code: 'ncc_acic', fields: { date_of_birth: '1990-04-23', years_resident: 3, aliases: ['Anne'] } },
    {
      code: 'licence',
      fields: {
        licence_number: 'A-1',
        points: 1.5,
        commercial: false,
        issuer: { name: 'State', since: 1990 },
      },
    },
  ],
})
