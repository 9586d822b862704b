import { columnName, type XlsxColumn } from '../../domain/sheet/cell.ts'
import { escaped } from './escapes.ts'

/** Notes of a sheet's header cells. */
export function commentsXml(columns: readonly XlsxColumn[]): string {
  const comments = columns.flatMap(({ note = '' }, at) =>
    note === ''
      ? []
      : `<comment ref="${columnName(at)}1" authorId="0"><text><t xml:space="preserve">${escaped(note)}</t></text></comment>`,
  )
  return (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
    `<authors><author>refcheck</author></authors><commentList>${comments.join('')}</commentList></comments>`
  )
}

/** Where spreadsheets draw them: Excel drops notes that have no shape. */
export function drawingXml(columns: readonly XlsxColumn[]): string {
  const shapes = columns.flatMap(({ note = '' }, at) => (note === '' ? [] : shape(at, note)))
  return (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" ' +
    'xmlns:x="urn:schemas-microsoft-com:office:excel">' +
    '<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/></o:shapelayout>' +
    '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">' +
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>' +
    `${shapes.join('')}</xml>`
  )
}

/** Three columns wide and as high as the text, which is not fitted by itself. */
function shape(column: number, note: string): string {
  const lines = note.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 36)), 0)
  const anchor = [column + 1, 15, 0, 2, column + 4, 15, Math.min(24, lines + 1), 2].join(', ')
  return (
    `<v:shape id="_x0000_s${String(1025 + column)}" type="#_x0000_t202" style="position:absolute;visibility:hidden" ` +
    'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:textbox/>' +
    `<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${anchor}</x:Anchor>` +
    `<x:AutoFill>False</x:AutoFill><x:Row>0</x:Row><x:Column>${String(column)}</x:Column></x:ClientData></v:shape>`
  )
}
