import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The installed LibreOffice without a screen, with its own user profile and folder. */
export interface Office {
  folder: string
  /** Opens a file and saves it in another format. `filter` is the value of --convert-to, `infilter` of --infilter. */
  convert(name: string, bytes: Uint8Array | string, filter: string, infilter?: string): Promise<Buffer>
  /** Types texts into cells of a workbook's first sheet as a person would, and saves it as XLSX. */
  fillIn(bytes: Uint8Array, cells: readonly [column: number, row: number, text: string][]): Promise<Buffer>
  close(): void
}

/** Starts LibreOffice once, which creates its profile. */
export async function startOffice(): Promise<Office> {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-office-'))
  const profile = join(folder, 'profile')
  const soffice = async (...args: string[]): Promise<void> => {
    await run('soffice', [`-env:UserInstallation=${pathToFileURL(profile).href}`, '--headless', ...args], {
      timeout: 100_000,
      env: { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8' },
    })
  }
  let count = 0
  const createFolder = (): string => {
    count += 1
    const path = join(folder, String(count))
    mkdirSync(path)
    return path
  }
  const convert: Office['convert'] = async (name, bytes, filter, infilter) => {
    const [from, to] = [createFolder(), createFolder()]
    writeFileSync(join(from, name), bytes)
    const reading = infilter === undefined ? [] : [`--infilter=${infilter}`]
    await soffice(...reading, '--convert-to', filter, '--outdir', to, join(from, name))
    return readFileSync(join(to, `${basename(name, extname(name))}.${filter.split(':', 1)[0] ?? ''}`))
  }
  await convert('first.csv', 'a\n', 'xlsx')
  return {
    folder,
    convert,
    async fillIn(bytes, cells) {
      const workFolder = createFolder()
      const [source, target] = [join(workFolder, 'empty.xlsx'), join(workFolder, 'filled.xlsx')]
      writeFileSync(source, bytes)
      const macroFolder = join(profile, 'user', 'basic', 'Standard')
      writeFileSync(
        join(macroFolder, 'Typing.xba'),
        typingMacro(pathToFileURL(source).href, pathToFileURL(target).href, cells),
      )
      writeFileSync(join(macroFolder, 'script.xlb'), library)
      await soffice('macro:///Standard.Typing.Fill')
      return readFileSync(target)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const library = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE library:library PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "library.dtd">
<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false" library:passwordprotected="false">
 <library:element library:name="Typing"/>
</library:library>`

/** Returns a macro that sets FormulaLocal, which converts a text by the cell's format, as typing does. */
function typingMacro(source: string, target: string, cells: readonly [number, number, string][]): string {
  const lines = cells.map(
    ([column, row, text]) =>
      `sheet.getCellByPosition(${String(column)}, ${String(row)}).FormulaLocal = ${quoteBasicText(text)}`,
  )
  const code = `Sub Fill
  Dim opening(0) As New com.sun.star.beans.PropertyValue
  opening(0).Name = "Hidden"
  opening(0).Value = True
  document = StarDesktop.loadComponentFromURL(${quoteBasicText(source)}, "_blank", 0, opening())
  sheet = document.Sheets.getByIndex(0)
  ${lines.join('\n  ')}
  Dim saving(0) As New com.sun.star.beans.PropertyValue
  saving(0).Name = "FilterName"
  saving(0).Value = "Calc MS Excel 2007 XML"
  document.storeToURL(${quoteBasicText(target)}, saving())
  document.close(True)
End Sub`
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD OfficeDocument 1.0//EN" "module.dtd">
<script:module xmlns:script="http://openoffice.org/2000/script" script:name="Typing" script:language="StarBasic">${code.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</script:module>`
}

function quoteBasicText(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
