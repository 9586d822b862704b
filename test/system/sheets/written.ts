import { formattedWorkbooks } from './formatted.ts'
import { candidates, visiblePeople } from './people.ts'
import { openpyxl, pandas, xlsxwriter } from './preambles.ts'

/** A file that another program writes, and the values that a user sees in it there. */
export interface WrittenFile {
  file: string
  /** The program, and the feature of it that this file has. */
  program: string
  /** Options with which refcheck reads the file. */
  how?: { sheet?: string; headerRow?: number; encoding?: string }
  /** The header and all rows that are not empty, also hidden ones. */
  table: string[][]
  /** Error messages for cells that have no value to send, by line (from 1) and column (from 0). */
  faults?: Record<string, string>
  /** Lines (from 1) that are hidden. */
  hidden?: number[]
  /** Lines (from 1) with text that is struck through. */
  struck?: number[]
  /** Columns (from 0) that are hidden. */
  hiddenColumns?: number[]
  /** Ranges of merged cells. */
  merged?: string[]
  /** Dates that are refused because their format shows no day, by line and column (from 0). */
  dayless?: string[]
  /** Numbers that are refused because their format shows another number, by line and column (from 0). */
  otherwise?: string[]
  /** Formats and other contents of the workbook: `lost` lists those that a results file loses; it keeps the others. */
  appearance?: {
    widths: Record<string, number>
    /** URLs of links, by line and column (from 0) of their cell. */
    links: Record<string, string>
    lost: string[]
    /** Names of the other sheets. */
    otherSheets: string[]
    /** Formats of dates, by line and column. */
    formats?: Record<string, string>
  }
  write: (run: Programs) => Promise<Buffer>
}

/** Functions that run a program, which writes to the path in its last argument, and return the bytes of that file. */
export interface Programs {
  python: (code: string, file: string) => Promise<Buffer>
  r: (code: string, file: string) => Promise<Buffer>
  perl: (code: string, file: string) => Promise<Buffer>
  node: (code: string, file: string) => Promise<Buffer>
  office: (from: { name: string; bytes: Buffer }, filter: string) => Promise<Buffer>
  gnumeric: (from: { name: string; bytes: Buffer }, file: string) => Promise<Buffer>
}

const namesByEncoding: Record<string, string> = { shift_jis: '鈴木', cp850: 'José', cp1250: 'Dvořák' }

function pandasCsv(encoding: string): WrittenFile {
  const name = namesByEncoding[encoding] ?? 'Łukasz 李'
  const how =
    namesByEncoding[encoding] === undefined ? {} : { encoding: encoding.replace('cp125', 'windows-125') }
  return {
    file: `pandas-${encoding.replace('_', '-')}.csv`,
    program: `pandas: CSV in ${encoding}`,
    how,
    table: [
      ['name', 'phone'],
      [name, '+61412345678'],
    ],
    write: ({ python }) =>
      python(
        `${pandas}pandas.DataFrame([[${JSON.stringify(name)}, "+61412345678"]], columns=["name", "phone"]).to_csv(path, index=False, encoding="${encoding}")`,
        'w.csv',
      ),
  }
}

export const writtenFiles: WrittenFile[] = [
  {
    file: 'openpyxl.xlsx',
    program: 'openpyxl: texts, dates, numbers and booleans',
    table: visiblePeople,
    write: ({ python }) => python(`${openpyxl}fill([columns] + people)\nwb.save(path)`, 'w.xlsx'),
  },
  {
    file: 'openpyxl-1904.xlsx',
    program: 'openpyxl: days counted from 1904',
    table: visiblePeople,
    write: ({ python }) =>
      python(
        `${openpyxl}from openpyxl.utils.datetime import CALENDAR_MAC_1904\nwb.epoch = CALENDAR_MAC_1904\nfill([columns] + people)\nwb.save(path)`,
        'w.xlsx',
      ),
  },
  {
    file: 'openpyxl-filtered.xlsx',
    program: 'openpyxl: a list filtered to those who were hired',
    table: candidates,
    hidden: [3, 5],
    write: ({ python }) =>
      python(
        `${openpyxl}fill(candidates)\nws.auto_filter.ref = "A1:C5"\nws.auto_filter.add_filter_column(1, ["hired"])\nws.row_dimensions[3].hidden = True\nws.row_dimensions[5].hidden = True\nwb.save(path)`,
        'w.xlsx',
      ),
  },
  {
    file: 'openpyxl-struck.xlsx',
    program: 'openpyxl: those who were rejected are struck through',
    table: candidates,
    struck: [3],
    write: ({ python }) =>
      python(
        `${openpyxl}fill(candidates)\nfor cell in ws[3]: cell.font = Font(strike=True)\nwb.save(path)`,
        'w.xlsx',
      ),
  },
  {
    file: 'openpyxl-hidden-column.xlsx',
    program: 'openpyxl: a column that is hidden, two cells merged beside the list, an empty sheet after it',
    table: candidates.map(([name = '', status = '', note = '']) => [
      name,
      status,
      name === 'Bob' ? '' : note,
    ]),
    hiddenColumns: [2],
    merged: ['C2:C3'],
    write: ({ python }) =>
      python(
        `${openpyxl}rows = [list(row) for row in candidates]\nrows[2][2] = None\nfill(rows)\nws.column_dimensions["C"].hidden = True\nws.merge_cells("C2:C3")\nwb.create_sheet("Sheet2")\nwb.save(path)`,
        'w.xlsx',
      ),
  },
  {
    file: 'openpyxl-formulas.xlsx',
    program: 'openpyxl: formulas, which it does not compute',
    table: [
      ['name', 'rate'],
      ['Ann', '=1+1'],
    ],
    faults: { '2,1': 'is a formula that was never computed; open the file in a spreadsheet and save it' },
    write: ({ python }) =>
      python(`${openpyxl}fill([["name", "rate"], ["Ann", "=1+1"]])\nwb.save(path)`, 'w.xlsx'),
  },
  {
    file: 'openpyxl-title.xlsx',
    program: 'openpyxl: a title, a date and an empty row above the header, as Workday exports',
    how: { headerRow: 4 },
    table: candidates,
    merged: ['A1:C1'],
    write: ({ python }) =>
      python(
        `${openpyxl}fill([["Candidates in process"], ["Run on", "2026-11-22"], []] + candidates)\nws.merge_cells("A1:C1")\nwb.save(path)`,
        'w.xlsx',
      ),
  },
  {
    file: 'xlsxwriter.xlsx',
    program: 'XlsxWriter: shared texts',
    table: visiblePeople,
    write: ({ python }) => python(`${xlsxwriter('{}')}fill([columns] + people)\nwb.close()`, 'w.xlsx'),
  },
  {
    file: 'xlsxwriter-in-place.xlsx',
    program: 'XlsxWriter: texts in place, row by row, days from 1904',
    table: visiblePeople,
    write: ({ python }) =>
      python(
        `${xlsxwriter('{"constant_memory": True, "date_1904": True}')}fill([columns] + people)\nwb.close()`,
        'w.xlsx',
      ),
  },
  {
    file: 'xlsxwriter-formula.xlsx',
    program: 'XlsxWriter: a 0 for a formula that it does not compute',
    table: [
      ['name', 'rate'],
      ['Ann', '=1+1'],
    ],
    faults: { '2,1': 'is a formula that was never computed; open the file in a spreadsheet and save it' },
    write: ({ python }) =>
      python(
        `${xlsxwriter('{}')}fill([["name", "rate"], ["Ann"]])\nws.write_formula(1, 1, "=1+1")\nwb.close()`,
        'w.xlsx',
      ),
  },
  {
    file: 'xlsxwriter-rich.xlsx',
    program: 'XlsxWriter: part of a text struck through, a row hidden, another of no height',
    table: candidates,
    struck: [2],
    hidden: [4, 5],
    write: ({ python }) =>
      python(
        `${xlsxwriter('{}')}fill(candidates)\nws.write_rich_string(1, 0, "A", wb.add_format({"font_strikeout": True}), "nn")\nws.set_row(3, None, None, {"hidden": True})\nws.set_row(4, 0)\nwb.close()`,
        'w.xlsx',
      ),
  },
  ...formattedWorkbooks,
  {
    file: 'pandas.xlsx',
    program: 'pandas over openpyxl',
    table: visiblePeople,
    write: ({ python }) => python(`${pandas}frame.to_excel(path, index=False)`, 'w.xlsx'),
  },
  {
    file: 'pandas.ods',
    program: 'pandas over odfpy, which saves booleans without their value',
    table: visiblePeople.map((row) =>
      row.map((text) => (text === 'true' || text === 'false' ? text.toUpperCase() : text)),
    ),
    faults: {
      '2,6': 'is a TRUE or FALSE whose value was not saved',
      '3,6': 'is a TRUE or FALSE whose value was not saved',
    },
    write: ({ python }) => python(`${pandas}frame.to_excel(path, index=False, engine="odf")`, 'w.ods'),
  },
  ...['utf-8-sig', 'utf-16', 'cp1250', 'shift_jis', 'cp850'].map(pandasCsv),
  {
    file: 'r-openxlsx.xlsx',
    program: 'R openxlsx',
    table: [
      ['name', 'phone', 'born', 'rate'],
      ['Zoë', '+61412345678', '1990-04-30', '0.5'],
    ],
    write: ({ r }) =>
      r(
        'openxlsx::write.xlsx(data.frame(name="Zo\\u00eb", phone="+61412345678", born=as.Date("1990-04-30"), rate=0.5), path)',
        'w.xlsx',
      ),
  },
  {
    file: 'perl-excel-writer.xlsx',
    program:
      'Perl Excel::Writer::XLSX: a date, an id as text, and a 0 for a formula that it does not compute',
    table: [
      ['name', 'born', 'id', 'rate'],
      ['Zoë', '1990-04-30', '007', '=1+1'],
    ],
    faults: { '2,3': 'is a formula that was never computed; open the file in a spreadsheet and save it' },
    write: ({ perl }) =>
      perl(
        'use utf8; use Excel::Writer::XLSX; my $wb = Excel::Writer::XLSX->new($ARGV[0]); my $ws = $wb->add_worksheet(); my $day = $wb->add_format(num_format => "yyyy-mm-dd"); $ws->write_row(0, 0, ["name", "born", "id", "rate"]); $ws->write_string(1, 0, "Zoë"); $ws->write_date_time(1, 1, "1990-04-30T", $day); $ws->write_string(1, 2, "007"); $ws->write_formula(1, 3, "=1+1"); $wb->close();',
        'w.xlsx',
      ),
  },
  {
    file: 'exceljs.xlsx',
    program: 'exceljs: texts, a date, a rich text, a hidden row, days from 1904',
    table: [
      ['name', 'born', 'rate'],
      ['Zoë', '1990-04-30', '0.5'],
      ['Anna', '2000-01-01', '12'],
    ],
    hidden: [3],
    write: ({ node }) =>
      node(
        'const E = require("exceljs"); const wb = new E.Workbook(); wb.properties.date1904 = true; const ws = wb.addWorksheet("People"); ws.addRow(["name", "born", "rate"]); ws.addRow(["Zoë", new Date(Date.UTC(1990, 3, 30)), 0.5]); ws.addRow([{ richText: [{ text: "An", font: { bold: true } }, { text: "na" }] }, new Date(Date.UTC(2000, 0, 1)), 12]); for (const n of [2, 3]) ws.getCell(n, 2).numFmt = "yyyy-mm-dd"; ws.getRow(3).hidden = true; wb.xlsx.writeFile(path)',
        'w.xlsx',
      ),
  },
  ...(['xlsx', 'ods'] as const).map((format): WrittenFile => ({
    file: `sheetjs.${format}`,
    program: `SheetJS: ${format.toUpperCase()}`,
    table: [
      ['name', 'phone', 'rate', 'paid'],
      ['Zoë', '+61412345678', '0.5', 'true'],
    ],
    write: ({ node }) =>
      node(
        `const X = require("xlsx"); const wb = X.utils.book_new(); X.utils.book_append_sheet(wb, X.utils.aoa_to_sheet([["name", "phone", "rate", "paid"], ["Zoë", "+61412345678", 0.5, true]]), "People"); X.writeFile(wb, path)`,
        `w.${format}`,
      ),
  })),
  ...(['xlsx', 'ods'] as const).map((format): WrittenFile => ({
    file: `libreoffice.${format}`,
    program: `LibreOffice: ${format.toUpperCase()}`,
    table: visiblePeople,
    write: async ({ python, office }) =>
      office(
        {
          name: 'w.xlsx',
          bytes: await python(`${xlsxwriter('{}')}fill([columns] + people)\nwb.close()`, 'w.xlsx'),
        },
        format,
      ),
  })),
  {
    file: 'libreoffice-structures.ods',
    program: 'LibreOffice: hidden rows, a struck name, a hidden column, equal rows and spaces',
    table: [
      ['name', 'status', 'notes'],
      ['Ann', 'hired', 'a'],
      ['Bob', 'rejected', ' two  spaces '],
      ['Cid', 'hired', 'a b'],
      ['Cid', 'hired', 'a b'],
      ['Dee', 'rejected', 'd'],
    ],
    hidden: [3],
    struck: [6],
    hiddenColumns: [2],
    write: async ({ python, office }) =>
      office(
        {
          name: 'w.xlsx',
          bytes: await python(
            `${xlsxwriter('{}')}fill([["name", "status", "notes"], ["Ann", "hired", "a"], ["Bob", "rejected", " two  spaces "], ["Cid", "hired", "a b"], ["Cid", "hired", "a b"], ["Dee", "rejected", "d"]])\nws.set_row(2, None, None, {"hidden": True})\nws.write_string(5, 0, "Dee", wb.add_format({"font_strikeout": True}))\nws.set_column(2, 2, None, None, {"hidden": True})\nwb.close()`,
            'w.xlsx',
          ),
        },
        'ods',
      ),
  },
  {
    file: 'libreoffice-formats.ods',
    program: 'LibreOffice: a percentage, a formatted number, an error, a computed formula, a time',
    table: [
      ['percent', 'id', 'error', 'formula', 'time'],
      ['0.5', '412345678', '#N/A', '2', '18:30:00'],
    ],
    faults: { '2,2': 'is the error #N/A' },
    write: async ({ python, office }) =>
      office(
        {
          name: 'w.xlsx',
          bytes: await python(
            `${openpyxl}fill([["percent", "id", "error", "formula", "time"], [0.5, 412345678, "=NA()", "=1+1", 18.5 / 24]])\nfor cell, shown in zip(ws[2], ["0%", "0000000000", "General", "General", "hh:mm:ss"]): cell.number_format = shown\nwb.save(path)`,
            'w.xlsx',
          ),
        },
        'ods',
      ),
  },
  ...(['xlsx', 'ods'] as const).map((format): WrittenFile => ({
    file: `gnumeric.${format}`,
    program: `gnumeric: ${format.toUpperCase()}`,
    table: visiblePeople,
    write: async ({ python, gnumeric }) =>
      gnumeric(
        {
          name: 'w.xlsx',
          bytes: await python(`${xlsxwriter('{}')}fill([columns] + people)\nwb.close()`, 'w.xlsx'),
        },
        `g.${format}`,
      ),
  })),
]
