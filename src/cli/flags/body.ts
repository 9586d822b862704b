/** The flags of a person's single fields, as an order takes them. */
export function bodyFlags(
  flags: Record<'first-name' | 'last-name' | 'email' | 'phone', string | undefined> & {
    field: string[] | undefined
  },
) {
  const { 'first-name': firstName, 'last-name': lastName, email, phone, field: fields } = flags
  return { firstName, lastName, email, phone, fields }
}
