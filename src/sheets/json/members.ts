/** A name of a JSON object and the text from it to the end of its value. */
export interface Member {
  name: string
  text: string
}

/** The members of a JSON object's text, each as it is written. The text is known to be sound. */
export function members(object: string): Member[] {
  const found: Member[] = []
  let depth = 0
  let start = -1
  let nameEnd = -1
  const end = (at: number): void => {
    if (start === -1) return
    const name = JSON.parse(object.slice(start, nameEnd)) as string
    found.push({ name, text: object.slice(start, at).trimEnd() })
    start = -1
    nameEnd = -1
  }
  for (let at = 0; at < object.length; at += 1) {
    const character = object.charAt(at)
    if (character === '"') {
      const close = stringEnd(object, at)
      if (depth === 1 && start === -1) [start, nameEnd] = [at, close]
      at = close - 1
    } else if (character === '{' || character === '[') {
      depth += 1
    } else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) end(at)
    } else if (character === ',' && depth === 1) {
      end(at)
    }
  }
  return found
}

/** Just past the quote that closes the string that opens at `from`. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\\') at += 1
    else if (character === '"') return at + 1
  }
  return text.length
}
