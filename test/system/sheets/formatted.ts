import { visiblePeople } from './people.ts'
import { openpyxl, xlsxwriter } from './preambles.ts'
import type { WrittenFile } from './written.ts'

const formatted: WrittenFile = {
  file: 'xlsxwriter-look.xlsx',
  program:
    'XlsxWriter: widths, links, formats of dates, a computed formula, a colour, a comment, another sheet',
  how: { sheet: 'Sheet1' },
  table: [
    ['name', 'born', 'start', 'profile', 'rate'],
    ['Ann', '1990-04-30', '2026-11-22', 'CV', '2'],
    ['Bob', '1991-12-01', '2026-11-23', 'https://example.com/b?x=1&y=2', '3'],
    ['Cid', '1992-01-02', '2026-11-24', 'c@example.com', '4'],
  ],
  hidden: [3],
  struck: [4],
  hiddenColumns: [2],
  appearance: {
    widths: { 0: 30.7109375, 1: 12.7109375, 2: 9.7109375, 3: 40.7109375 },
    links: {
      '2,3': 'https://example.com/cv/ann#page=2',
      '3,3': 'https://example.com/b?x=1&y=2',
      '4,3': 'mailto:c@example.com',
    },
    lost: [
      'comments',
      'conditional formats',
      'data validations',
      'filters',
      'fonts and colours',
      'formulas',
      'links within the workbook',
      'row heights',
    ],
    otherSheets: ['Notes'],
    formats: {
      '2,1': 'd mmmm yyyy',
      '2,2': 'dd/mm/yyyy',
      '3,1': '[built-in 14]yyyy-mm-dd',
      '3,2': 'dd/mm/yyyy',
      '4,1': 'd-mmm-yy',
      '4,2': 'dd/mm/yyyy',
    },
  },
  write: ({ python }) =>
    python(
      `${xlsxwriter('{}')}import datetime as dt
ws.set_column(0, 0, 30); ws.set_column(1, 1, 12); ws.set_column(2, 2, 9, None, {"hidden": True}); ws.set_column(3, 3, 40)
fill([["name", "born", "start", "profile", "rate"]])
rows = [("Ann", dt.datetime(1990, 4, 30), {"num_format": "d mmmm yyyy"}), ("Bob", dt.datetime(1991, 12, 1), {"num_format": 14}), ("Cid", dt.datetime(1992, 1, 2), {"num_format": 15})]
for r, (name, born, shown) in enumerate(rows):
    ws.write(r + 1, 0, name, wb.add_format({"font_strikeout": r == 2, "bg_color": "yellow" if r == 1 else "white"}))
    ws.write_datetime(r + 1, 1, born, wb.add_format(shown))
    ws.write_datetime(r + 1, 2, dt.datetime(2026, 11, 22 + r), day)
    ws.write_formula(r + 1, 4, "=1+%d" % (r + 1), None, r + 2)
ws.write_url(1, 3, "https://example.com/cv/ann#page=2", None, "CV", "Curriculum vitae")
ws.write_url(2, 3, "https://example.com/b?x=1&y=2")
ws.write_url(3, 3, "mailto:c@example.com", None, "c@example.com")
ws.write_url(0, 3, "internal:Notes!A1", None, "profile")
ws.set_row(2, None, None, {"hidden": True})
ws.set_row(3, 30)
ws.write_comment(1, 0, "Call her after five")
ws.autofilter(0, 0, 3, 4)
ws.data_validation(1, 4, 3, 4, {"validate": "integer", "criteria": ">", "value": 0})
ws.conditional_format(1, 4, 3, 4, {"type": "cell", "criteria": ">", "value": 3, "format": wb.add_format({"bold": True})})
wb.add_worksheet("Notes").write(0, 0, "Only for us")
wb.calc_on_load = False
wb.close()`,
      'w.xlsx',
    ),
}

/** Dates whose format shows no day. */
const dayless: WrittenFile = {
  file: 'openpyxl-dayless.xlsx',
  program: 'openpyxl: dates of which the day is not shown, and ones that say it in words',
  table: [
    ['month', 'built in', 'words', 'day'],
    ['1990-04-30', '1990-04-30', '1990-04-30', '1990-04-30'],
    ['2000-12-12', '2000-12-12', '2000-12-12', '2000-12-12'],
  ],
  dayless: ['2,0', '2,1', '3,0', '3,1'],
  write: ({ python }) =>
    python(
      `${openpyxl}import datetime
fill([["month", "built in", "words", "day"]])
for day in [datetime.date(1990, 4, 30), datetime.date(2000, 12, 12)]: ws.append([day] * 4)
for row in ws.iter_rows(min_row=2):
    for cell, shown in zip(row, ["mmmm yyyy", "mmm-yy", "dddd, d mmmm yyyy", "dd/mm/yy"]): cell.number_format = shown
wb.save(path)`,
      'w.xlsx',
    ),
}

/** Excel for Mac: `date1904` in `workbookPr`, and an x14:workbookPr of another namespace after it. */
const mac: WrittenFile = {
  file: 'excel-mac-1904.xlsx',
  program: 'the structure of Excel for Mac: days from 1904, and an x14:workbookPr without it in extLst',
  table: visiblePeople,
  write: ({ python }) =>
    python(
      `${openpyxl}import zipfile
from openpyxl.utils.datetime import CALENDAR_MAC_1904
wb.epoch = CALENDAR_MAC_1904
fill([columns] + people)
wb.save(path)
with zipfile.ZipFile(path) as book: parts = [(part, book.read(part)) for part in book.namelist()]
extension = b'<extLst><ext uri="{140A7094-0E35-4892-8432-C4D2E57EDEB5}" xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:workbookPr defaultImageDpi="32767"/></ext></extLst></workbook>'
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
    for part, content in parts: book.writestr(part, content.replace(b"</workbook>", extension) if part == "xl/workbook.xml" else content)`,
      'w.xlsx',
    ),
}

const sameColour = 'has the colour of its background, so nobody sees it; give it another colour, or empty it'

/** Text in the colour of its background, and numbers whose format shows another number. */
const unseen: WrittenFile = {
  file: 'openpyxl-unseen.xlsx',
  program: 'openpyxl: white letters on white, blue ones on the same blue, and 85 shown as 85k',
  table: [
    ['name', 'white', 'of the theme', 'blue on blue', 'white on blue', 'amount', 'years'],
    ['Ann', 'Li', 'Ng', 'Oz', 'Pi', '85', '12'],
    ['Bob', 'Li', 'Ng', 'Oz', 'Pi', '7', '3'],
  ],
  faults: { '2,1': sameColour, '2,2': sameColour, '2,3': sameColour },
  otherwise: ['2,5'],
  write: ({ python }) =>
    python(
      `${openpyxl}from openpyxl.styles import PatternFill
from openpyxl.styles.colors import Color
fill([["name", "white", "of the theme", "blue on blue", "white on blue", "amount", "years"],
  ["Ann", "Li", "Ng", "Oz", "Pi", 85, 12], ["Bob", "Li", "Ng", "Oz", "Pi", 7, 3]])
blue = PatternFill("solid", fgColor="FF4F81BD")
ws["B2"].font = Font(color="FFFFFFFF")
ws["C2"].font = Font(color=Color(theme=0))
ws["D2"].font, ws["D2"].fill = Font(color=Color(theme=4)), blue
ws["E2"].font, ws["E2"].fill = Font(color="FFFFFFFF"), blue
ws["F2"].number_format, ws["F3"].number_format, ws["G2"].number_format = '0"k"', "0.00", '0" years"'
wb.save(path)`,
      'w.xlsx',
    ),
}

/** Workbooks with formats and other things in addition to their values. */
export const formattedWorkbooks: WrittenFile[] = [
  formatted,
  dayless,
  {
    ...dayless,
    file: 'libreoffice-dayless.ods',
    program: 'LibreOffice: the same as ODS',
    write: async (run) => run.office({ name: 'w.xlsx', bytes: await dayless.write(run) }, 'ods'),
  },
  mac,
  unseen,
  {
    ...unseen,
    file: 'libreoffice-unseen.ods',
    program: 'LibreOffice: the same as ODS',
    write: async (run) => run.office({ name: 'w.xlsx', bytes: await unseen.write(run) }, 'ods'),
  },
  {
    ...formatted,
    file: 'libreoffice-look.ods',
    program: 'LibreOffice: the same as ODS',
    appearance: {
      widths: { 0: 40.24, 1: 16.24, 2: 12.24, 3: 53.57, 4: 10.67 },
      links: formatted.appearance?.links ?? {},
      lost: [
        'comments',
        'data validations',
        'date formats',
        'fonts and colours',
        'formulas',
        'links within the workbook',
      ],
      otherSheets: ['Notes'],
      formats: Object.fromEntries(
        ['2,1', '2,2', '3,1', '3,2', '4,1', '4,2'].map((position) => [position, 'yyyy-mm-dd']),
      ),
    },
    write: async (run) => run.office({ name: 'w.xlsx', bytes: await formatted.write(run) }, 'ods'),
  },
]
