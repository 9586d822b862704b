/** What a text from elsewhere may be long at most before it is cut. */
export const longestText = 600

const blank = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu
/** What is not seen and may hide or turn words: zero-width, bidi, tags, selectors of variants, fillers, private and unpaired ones. */
const unseen = /[\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]+/gu

/** A text as a program may read it: one line, nothing hidden, no longer than `longestText` and a word about the rest. */
export function plainText(text: string): string {
  const shown = text
    .slice(0, 20 * longestText)
    .replace(unseen, '')
    .replace(blank, ' ')
    .trim()
  const characters = Array.from(shown)
  if (characters.length <= longestText && text.length <= 20 * longestText) return shown
  return `${characters.slice(0, longestText).join('')}… (cut: ${text.length} characters)`
}
