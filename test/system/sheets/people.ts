/** Columns of a list with values that programs often damage. */
export const columns = ['first_name', 'last_name', 'phone', 'born', 'id', 'rate', 'paid', 'note']

/** The typed values, as JSON for the programs. A date is `{"date": "1990-04-30"}`. */
export const people: unknown[][] = [
  ['Zoë', "O'Neil", '+61412345678', { date: '1990-04-30' }, '007', 0.5, true, 'two\nlines, "so"; or|not'],
  ['Łukasz', '李 小龍', '+49 30 123456', { date: '2000-01-01' }, '0412', 12, false, 'x < y & z'],
  ['Ana', null, '0061412345678', null, '1e5', 85_000.5, null, null],
]

/** The table that a user sees in the program. */
export const visiblePeople: string[][] = [
  columns,
  ['Zoë', "O'Neil", '+61412345678', '1990-04-30', '007', '0.5', 'true', 'two\nlines, "so"; or|not'],
  ['Łukasz', '李 小龍', '+49 30 123456', '2000-01-01', '0412', '12', 'false', 'x < y & z'],
  ['Ana', '', '0061412345678', '', '1e5', '85000.5', '', ''],
]

/** A list of candidates, of whom files hide, strike through or merge some rows. */
export const candidates: string[][] = [
  ['name', 'status', 'notes'],
  ['Ann', 'hired', 'a'],
  ['Bob', 'rejected', 'b'],
  ['Cid', 'hired', 'c'],
  ['Dee', 'rejected', 'd'],
]
