import { encodeUtf16, type Vector, encodeWindows1252 } from './vector.ts'

const header = ['first_name', 'last_name', 'phone', 'born', 'note']

/** Text files as Excel saves them: CRLF between rows, LF within a cell, quotes only where they are needed. */
export const excelText: Vector[] = [
  {
    file: 'en-au.csv',
    description: 'Excel en-AU, CSV (Comma delimited): the code page of Windows',
    bytes: () =>
      encodeWindows1252(
        'first_name,last_name,phone,born,note\r\n' +
          'Zoë,O’Neil,+61412345678,30/04/1990,"a, b"\r\n' +
          'Ann,"Smith ""Jr""",0412 345 678,1/02/2000,"two\nlines"\r\n',
      ),
    encoding: 'windows-1252',
    table: [
      header,
      ['Zoë', 'O’Neil', '+61412345678', '30/04/1990', 'a, b'],
      ['Ann', 'Smith "Jr"', '0412 345 678', '1/02/2000', 'two\nlines'],
    ],
  },
  {
    file: 'en-au-utf-8.csv',
    description: 'Excel en-AU, CSV UTF-8: a byte order mark before the first name',
    bytes: () =>
      Buffer.from(
        '\uFEFFfirst_name,last_name,phone,born,note\r\n李,小龍,6.1412E+10,1990-04-30,\r\nŁukasz,Nowak,61412345678,,TRUE\r\n',
      ),
    table: [
      header,
      ['李', '小龍', '6.1412E+10', '1990-04-30', ''],
      ['Łukasz', 'Nowak', '61412345678', '', 'TRUE'],
    ],
  },
  {
    file: 'de-de.csv',
    description: 'Excel de-DE: semicolons, because numbers have decimal commas; WAHR and FALSCH',
    bytes: () =>
      encodeWindows1252(
        'Vorname;Nachname;Telefon;Geburtsdatum;Einkommen;Ehrenamt\r\n' +
          'Jürgen;Weiß;+49 30 123456;30.04.1990;85000,5;WAHR\r\n' +
          'Änne;"Groß; geb. Klein";0049301234567;01.02.2000;1.234,00 €;FALSCH\r\n',
      ),
    encoding: 'windows-1252',
    table: [
      ['Vorname', 'Nachname', 'Telefon', 'Geburtsdatum', 'Einkommen', 'Ehrenamt'],
      ['Jürgen', 'Weiß', '+49 30 123456', '30.04.1990', '85000,5', 'WAHR'],
      ['Änne', 'Groß; geb. Klein', '0049301234567', '01.02.2000', '1.234,00 €', 'FALSCH'],
    ],
  },
  {
    file: 'fr-fr.csv',
    description: 'Excel fr-FR: semicolons; VRAI and FAUX; non-breaking spaces in numbers',
    bytes: () =>
      encodeWindows1252(
        'Prénom;Nom;Téléphone;Salaire;Bénévole\r\nFrançois;Lefèvre;+33 1 23 45 67 89;85\u00A0000,50;VRAI\r\nZoé;d’Étienne;0612345678;;FAUX\r\n',
      ),
    encoding: 'windows-1252',
    table: [
      ['Prénom', 'Nom', 'Téléphone', 'Salaire', 'Bénévole'],
      ['François', 'Lefèvre', '+33 1 23 45 67 89', '85\u00A0000,50', 'VRAI'],
      ['Zoé', 'd’Étienne', '0612345678', '', 'FAUX'],
    ],
  },
  {
    file: 'unicode.txt',
    description: 'Excel, Unicode Text: UTF-16 with a byte order mark, tabs, cells with commas in quotes',
    bytes: () => encodeUtf16('first_name\tphone\tnote\r\nΖωή\t+302101234567\t"a, b"\r\n李\t007\t"say ""so"""\r\n'),
    table: [
      ['first_name', 'phone', 'note'],
      ['Ζωή', '+302101234567', 'a, b'],
      ['李', '007', 'say "so"'],
    ],
  },
  {
    file: 'tabs.txt',
    description: 'Excel, Text (Tab delimited): the code page of Windows',
    bytes: () => encodeWindows1252('first_name\tphone\r\nZoë\t+61412345678\r\n'),
    encoding: 'windows-1252',
    table: [
      ['first_name', 'phone'],
      ['Zoë', '+61412345678'],
    ],
  },
  {
    file: 'leftovers.csv',
    description: 'Excel: columns and rows that were emptied are still written',
    bytes: () =>
      Buffer.from('first_name,phone,,\r\nAnn,+61412345678,,\r\n,,,\r\nBob,+61412345679,,\r\n,,,\r\n,,,\r\n'),
    table: [
      ['first_name', 'phone'],
      ['Ann', '+61412345678'],
      ['Bob', '+61412345679'],
    ],
  },
  {
    file: 'separator-line.csv',
    description: 'a first line that tells Excel the separator',
    bytes: () => encodeWindows1252('sep=;\r\nfirst_name;phone\r\nZoë, Ann;+61412345678\r\n'),
    encoding: 'windows-1252',
    table: [
      ['first_name', 'phone'],
      ['Zoë, Ann', '+61412345678'],
    ],
  },
  {
    file: 'one-column.csv',
    description: 'one column: the file contains no separator',
    bytes: () => Buffer.from('email\r\nann@example.com\r\nbob@example.com\r\n'),
    table: [['email'], ['ann@example.com'], ['bob@example.com']],
  },
  {
    file: 'old-mac.csv',
    description: 'Excel for Mac, CSV (Macintosh): CR alone, ASCII',
    bytes: () => Buffer.from('first_name,phone\rAnn,+61412345678\rBob,"a\rb"\r'),
    table: [
      ['first_name', 'phone'],
      ['Ann', '+61412345678'],
      ['Bob', 'a\rb'],
    ],
  },
  {
    file: 'mac-roman.csv',
    description: 'Excel for Mac, CSV (Macintosh): Mac Roman, in which é is Ž of Windows',
    bytes: () => Buffer.from('first_name,phone\rJos\x8E,+61412345678\r', 'latin1'),
    encoding: 'macintosh',
    table: [
      ['first_name', 'phone'],
      ['José', '+61412345678'],
    ],
  },
  {
    file: 'pl-pl.csv',
    description: 'Excel pl-PL, CSV: Windows-1250, in which ł is ³ of Windows-1252',
    bytes: () =>
      Buffer.from('imię;telefon\r\n'.replace('ę', '\xEA') + 'Micha\xB3;+48221234567\r\n', 'latin1'),
    encoding: 'windows-1250',
    table: [
      ['imię', 'telefon'],
      ['Michał', '+48221234567'],
    ],
  },
  {
    file: 'web-page.xls',
    description: 'an export that calls itself .xls and is a web page',
    bytes: () =>
      Buffer.from(
        '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table><tr><td>a</td></tr></table></html>',
      ),
    refusal: 'it is a web page or XML',
  },
  {
    file: 'web-page-utf-16.xls',
    description: 'an export that calls itself .xls and is a web page in UTF-16',
    bytes: () => encodeUtf16('<html><table><tr><td>a</td></tr></table></html>'),
    refusal: 'it is a web page or XML',
  },
  {
    file: 'xml-2003.xml',
    description: 'Excel, XML Spreadsheet 2003',
    bytes: () =>
      Buffer.from('<?xml version="1.0"?>\r\n<?mso-application progid="Excel.Sheet"?>\r\n<Workbook/>'),
    refusal: 'it is a web page or XML',
  },
]
