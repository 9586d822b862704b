/**
 * What a person sees of a number, as far as its format says so for sure: `General`, `0`, `0.00`, `#,##0.0`, or a
 * text in quotes. Undefined for every other format. Decimals are those of English.
 */
export function shownNumber(value: number, format: string): string | undefined {
  if (format === 'General' || format === '@') return String(value)
  const literal = /^"([^"]*)"$/.exec(format)?.[1]
  if (literal !== undefined) return literal
  const plain = /^(#,##)?0(?:\.(0{1,20}))?(?:_\)|;.*)?$/.exec(format.slice(0, 200))
  if (plain === null || Math.abs(value) >= 1e21) return undefined
  const fixed = value.toFixed(plain[2]?.length ?? 0)
  return plain[1] === undefined ? fixed : fixed.replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ',')
}

/** Why a number is not what is seen of it; undefined where it is, whatever stands around its digits. */
export function shownOtherwise(value: number, format: string): string | undefined {
  if (format.includes('%')) return 'is shown as a percentage; give the number itself'
  const shown = shownNumber(value, format)
  if (shown !== undefined) {
    const plain = Number(value.toPrecision(15)) === value
    if (!plain) return `has more digits than are shown; round it to ${String(Number(value.toPrecision(15)))}`
    return sameDigits(value, shown)
      ? undefined
      : `is the number ${String(value)} shown as "${shown.slice(0, 40)}"`
  }
  const [positive = ''] = format.slice(0, 300).split(';')
  const bare = positive.replaceAll(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '')
  const digits = /[0#?][0#?,]*(?:\.([0#?]*))?/.exec(bare)
  const isOther = digits === null || /[/E]|[0#?],+(?![0#?])/i.test(bare)
  const rounded = Number(value.toFixed(Math.min(20, digits?.[1]?.length ?? 0)))
  return isOther || rounded !== value
    ? `is the number ${String(value)} shown as "${format.slice(0, 40)}"`
    : undefined
}

/** Whether a text shows a number's digits, grouped and rounded to nothing but zeros: 1,234.50 of 1234.5. */
function sameDigits(value: number, shown: string): boolean {
  if (Number(shown) === value) return true
  const digits = shown.replaceAll(/\D/g, '')
  const isNegative = /^\W*[-−(]/.test(shown)
  if (isNegative !== value < 0) return false
  for (let decimals = 0; decimals <= 10; decimals += 1) {
    const fixed = Math.abs(value).toFixed(decimals)
    if (Number(fixed) === Math.abs(value) && fixed.replace('.', '') === digits) return true
  }
  return false
}
