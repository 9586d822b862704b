import { encodeUtf16, type Vector } from './vector.ts'

/** Text files as Google Sheets, Numbers and applicant tracking systems export them. */
export const exportsAsText: Vector[] = [
  {
    file: 'google.csv',
    description: 'Google Sheets: UTF-8 without a byte order mark, CRLF, no line end after the last row',
    bytes: () =>
      Buffer.from(
        'first_name,phone,paid,note\r\nZoë,+61412345678,TRUE,"two\nlines"\r\n李,0412345678,FALSE,"a ""b"", c"',
      ),
    table: [
      ['first_name', 'phone', 'paid', 'note'],
      ['Zoë', '+61412345678', 'TRUE', 'two\nlines'],
      ['李', '0412345678', 'FALSE', 'a "b", c'],
    ],
  },
  {
    file: 'google.tsv',
    description: 'Google Sheets: tabs, and nothing is ever quoted',
    bytes: () => Buffer.from('first_name\tphone\tnote\r\nZoë\t+61412345678\ttwo lines'),
    table: [
      ['first_name', 'phone', 'note'],
      ['Zoë', '+61412345678', 'two lines'],
    ],
  },
  {
    file: 'google-quote.tsv',
    description: 'Google Sheets: a quote in an unquoted cell, which may be text or begin a quoted cell',
    bytes: () => Buffer.from('first_name\tnote\r\nZoë\ta 5" pipe'),
    refusal: 'line 2 has a quote in the middle of a cell',
  },
  {
    file: 'numbers.csv',
    description: 'Numbers, Unicode (UTF-8): no byte order mark',
    bytes: () => Buffer.from('first_name,phone,born\r\nZoë,+61412345678,30/4/1990\r\n,,\r\nAnn,0412,\r\n'),
    table: [
      ['first_name', 'phone', 'born'],
      ['Zoë', '+61412345678', '30/4/1990'],
      ['Ann', '0412', ''],
    ],
  },
  {
    file: 'numbers-semicolon.csv',
    description: 'Numbers in a country with decimal commas: semicolons, LF',
    bytes: () => Buffer.from('Vorname;Telefon;Einkommen\nJürgen;+49301234567;85000,5\n'),
    table: [
      ['Vorname', 'Telefon', 'Einkommen'],
      ['Jürgen', '+49301234567', '85000,5'],
    ],
  },
  {
    file: 'numbers-mac-roman.csv',
    description: 'Numbers, Western (Mac OS Roman)',
    bytes: () => Buffer.from('first_name,phone\r\nJ\x9Frgen,+49301234567\r\n', 'latin1'),
    encoding: 'macintosh',
    table: [
      ['first_name', 'phone'],
      ['Jürgen', '+49301234567'],
    ],
  },
  {
    file: 'ats-quoted.csv',
    description: 'an applicant tracking system: every cell in quotes, a byte order mark, LF',
    bytes: () =>
      Buffer.from(
        '\uFEFF"Candidate ID","Given name","Mobile"\n"000123","Zoë","+61 412 345 678"\n"000124","",""\n',
      ),
    table: [
      ['Candidate ID', 'Given name', 'Mobile'],
      ['000123', 'Zoë', '+61 412 345 678'],
      ['000124', '', ''],
    ],
  },
  {
    file: 'ats-pipe.txt',
    description: 'an applicant tracking system: pipes',
    bytes: () => Buffer.from("id|name|phone\n007|O'Neil, Zoë|+61412345678\n008|a;b|+61412345679\n"),
    table: [
      ['id', 'name', 'phone'],
      ['007', "O'Neil, Zoë", '+61412345678'],
      ['008', 'a;b', '+61412345679'],
    ],
  },
  {
    file: 'ats-marked.csv',
    description: 'an applicant tracking system: an apostrophe before what could be a formula',
    bytes: () => Buffer.from("name,phone\n'=1+1,'+61412345678\n''tis,'quoted'\n"),
    table: [
      ['name', 'phone'],
      ['=1+1', '+61412345678'],
      ["''tis", "'quoted'"],
    ],
  },
  {
    file: 'ats-utf-16.csv',
    description: 'an applicant tracking system: UTF-16 and commas',
    bytes: () => encodeUtf16('name,phone\nZoë,+61412345678\n'),
    table: [
      ['name', 'phone'],
      ['Zoë', '+61412345678'],
    ],
  },
  {
    file: 'ats-blank-lines.csv',
    description: 'an applicant tracking system: empty lines before the header and between rows',
    bytes: () => Buffer.from('\r\n\r\nname,phone\r\n\r\nAnn,1\r\n\r\n'),
    table: [
      ['name', 'phone'],
      ['Ann', '1'],
    ],
  },
  {
    file: 'ats-title.csv',
    description: 'an applicant tracking system: a title above the header',
    bytes: () => Buffer.from('Candidates of November\r\n\r\nname,phone,email\r\nAnn,1,a@example.com\r\n'),
    headerRow: 3,
    table: [
      ['name', 'phone', 'email'],
      ['Ann', '1', 'a@example.com'],
    ],
  },
  {
    file: 'ats-footer.csv',
    description: 'an applicant tracking system: a count below the rows',
    bytes: () => Buffer.from('name,phone\r\nAnn,1\r\nTotal: 1\r\n'),
    refusal: 'line 3 has 1 cell, and the header has 2',
  },
  {
    file: 'ats-twice.csv',
    description: 'an applicant tracking system: two columns of one name',
    bytes: () => Buffer.from('Name,Phone,Name\r\nAnn,1,Smith\r\n'),
    table: [
      ['Name', 'Phone', 'Name'],
      ['Ann', '1', 'Smith'],
    ],
  },
  {
    file: 'ats-backslash.csv',
    description: 'a database: quotes escaped by a backslash',
    bytes: () => Buffer.from('name,note\n"Ann","a \\"b\\" c"\n'),
    refusal: 'line 2 has text after a closing quote',
  },
  {
    file: 'ats-mixed-ends.csv',
    description: 'concatenated files: CRLF and LF',
    bytes: () => Buffer.from('name,phone\r\nAnn,1\nBob,2\r\n'),
    table: [
      ['name', 'phone'],
      ['Ann', '1'],
      ['Bob', '2'],
    ],
  },
]
