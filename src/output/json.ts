const obeyed = /[\u007F-\u009F\u2028\u2029\p{Bidi_Control}]/gu

/** JSON that a terminal does not obey: what JSON leaves of control characters is escaped, and nothing is lost. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.replace(obeyed, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
