/** The schema of a package whose orders have eight columns. */
export const schema = {
  id: 101,
  fields: {
    recipient: Object.fromEntries(
      ['first_name', 'last_name', 'email', 'phone'].map((name) => [name, { type: 'string', required: true }]),
    ),
    additional_information: [
      {
        display_name: 'References',
        code: 'reference',
        fields: { position_title: { type: 'string', required: true, description: 'Position.' } },
      },
      {
        display_name: 'Police check',
        code: 'ncc_acic',
        fields: {
          date_of_birth: { type: 'string', required: true, description: 'Date of birth, YYYY-MM-DD.' },
          is_volunteer: { type: 'boolean', required: true, description: 'Whether it is unpaid.' },
        },
      },
      {
        display_name: 'Credit check',
        code: 'icrc',
        fields: { years_of_history: { type: 'integer', required: true, description: 'Years.' } },
      },
    ],
  },
}

export const columns = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'reference.position_title',
  'ncc_acic.date_of_birth',
  'ncc_acic.is_volunteer',
  'icrc.years_of_history',
]

const firstNames = ['Priya', 'José', 'Mei', 'Tomás', 'Anna', 'Łukasz', 'Grace', 'Olu']

/** Returns row `index` of a file of people; all rows are different people. */
export function createPersonRow(index: number): string[] {
  const number = String(index).padStart(7, '0')
  return [
    firstNames[index % firstNames.length] ?? '',
    `Example${index % 9973}`,
    `person.${number}@example.com`,
    `+614${number.padStart(8, '1')}`,
    index % 3 === 0 ? 'Nurse, night shift' : 'Teacher',
    `19${String(50 + (index % 50))}-0${1 + (index % 9)}-1${index % 10}`,
    index % 2 === 0 ? 'yes' : 'no',
    String(index % 40),
  ]
}
