/** A request body with fields of every JSON type. */
export const order = {
  package_id: 101,
  recipient: { first_name: 'Jane', last_name: 'Example', email: 'jane@example.com', phone: '+61400000001' },
  additional_information: [
    { code: 'reference', fields: { position_title: 'Gardener' } },
    {
      code: 'ncc_acic',
      fields: {
        date_of_birth: '1990-04-30',
        is_volunteer: false,
        previous_names: [],
        residential_address: { street: '1 Example Street' },
      },
    },
    { code: 'icrc', fields: { years_of_history: 5, annual_income: 61_000.5 } },
  ],
}
