import { escapeXml } from '../../domain/wording/escape-xml.ts'

/**
 * ST_Xstring (ECMA-376 part 1, 22.9.2.19): what XML cannot hold is written `_xHHHH_`, and so is the
 * underscore of a text that looks like that itself.
 */
const escape = /_x([\dA-Fa-f]{4})_/g

export function unescaped(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(escape, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

const unsafe = /_(?=x[\dA-Fa-f]{4}_)|(?![\t\n])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/gu

/** A text as element content or in a quoted attribute. */
export function escaped(text: string): string {
  return escapeXml(
    text.replaceAll(
      unsafe,
      (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    ),
  )
}
