/**
 * Built-in formats (ECMA-376 part 1, 18.8.30) as their codes in English. In other languages they show the same
 * digits with other separators and words.
 */
const codes: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);("$"#,##0)',
  6: '"$"#,##0_);[Red]("$"#,##0)',
  7: '"$"#,##0.00_);("$"#,##0.00)',
  8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);[Red](#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);[Red](#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
}

/** Those that each language lays out again, though it shows the same parts of the date. */
const local: Readonly<Record<number, string>> = {
  14: 'yyyy-mm-dd',
  22: 'yyyy-mm-dd hh:mm',
  30: 'yyyy-mm-dd',
  31: 'yyyy-mm-dd',
}

const ids = new Map(Object.entries(codes).map(([id, code]) => [code, Number(id)]))

/** Dates and times of Chinese, Japanese and Korean, each showing other parts of it in each language. */
const isEastern = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/**
 * The code of a format by its number. One that depends on the language says its number in brackets, so that
 * `builtInId` finds it again; what it shows is not known then.
 */
export function builtInCode(id: number): string {
  const code = codes[id]
  if (code !== undefined) return code
  if (local[id] !== undefined || isEastern(id) || (id >= 59 && id <= 81)) {
    return `[built-in ${String(id)}]${local[id] ?? ''}`
  }
  return 'General'
}

/** The number of a built-in format; undefined for any other. */
export function builtInId(code: string): number | undefined {
  const marked = /^\[built-in (\d{2})\]/.exec(code)?.[1]
  return marked === undefined ? ids.get(code) : Number(marked)
}

/** Whether a built-in format is one of dates or times. */
export function isBuiltInDate(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 45 && id <= 47) || isEastern(id)
}
