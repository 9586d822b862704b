import { candidates, columns, people } from './people.ts'

const data = JSON.stringify({ columns, people, candidates })
const pythonData = `import json, sys, datetime
data = json.loads(${JSON.stringify(data)})
columns, candidates = data["columns"], data["candidates"]
def value(v): return datetime.date.fromisoformat(v["date"]) if isinstance(v, dict) else v
people = [[value(v) for v in row] for row in data["people"]]
path = sys.argv[1]
`
/** The first lines of scripts: the data, the library, and an empty workbook. */
export const openpyxl = `${pythonData}import openpyxl
from openpyxl.styles import Font
wb = openpyxl.Workbook()
ws = wb.active
def fill(rows):
    for row in rows: ws.append(row)
`
export const xlsxwriter = (options: string): string => `${pythonData}import xlsxwriter
wb = xlsxwriter.Workbook(path, ${options})
ws = wb.add_worksheet()
day = wb.add_format({"num_format": "dd/mm/yyyy"})
def fill(rows):
    for r, row in enumerate(rows):
        for c, v in enumerate(row):
            if isinstance(v, datetime.date): ws.write_datetime(r, c, datetime.datetime(v.year, v.month, v.day), day)
            elif isinstance(v, str): ws.write_string(r, c, v)
            elif v is not None: ws.write(r, c, v)
`
export const pandas = `${pythonData}import pandas
frame = pandas.DataFrame(people, columns=columns)
`
