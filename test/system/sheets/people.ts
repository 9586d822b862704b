/** What a person types into a list, with what programs are known to spoil; and what is seen of it. */
export const columns = ['first_name', 'last_name', 'phone', 'born', 'id', 'rate', 'paid', 'note']

/** As JSON for the programs: dates are `{"date": "1990-04-30"}`. */
export const people: unknown[][] = [
  ['Zoë', "O'Neil", '+61412345678', { date: '1990-04-30' }, '007', 0.5, true, 'two\nlines, "so"; or|not'],
  ['Łukasz', '李 小龍', '+49 30 123456', { date: '2000-01-01' }, '0412', 12, false, 'x < y & z'],
  ['Ana', null, '0061412345678', null, '1e5', 85_000.5, null, null],
]

export const seen: string[][] = [
  columns,
  ['Zoë', "O'Neil", '+61412345678', '1990-04-30', '007', '0.5', 'true', 'two\nlines, "so"; or|not'],
  ['Łukasz', '李 小龍', '+49 30 123456', '2000-01-01', '0412', '12', 'false', 'x < y & z'],
  ['Ana', '', '0061412345678', '', '1e5', '85000.5', '', ''],
]

/** A list of candidates for the structures: who is hidden, struck through, merged. */
export const candidates: string[][] = [
  ['name', 'status', 'notes'],
  ['Ann', 'hired', 'a'],
  ['Bob', 'rejected', 'b'],
  ['Cid', 'hired', 'c'],
  ['Dee', 'rejected', 'd'],
]
