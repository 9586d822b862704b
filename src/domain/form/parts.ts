/** Names in a row, as a description lists them: `street, suburb, state, postcode and country`. */
const listed = String.raw`((?:[a-z_]{2,30}, )+[a-z_]{2,30}(?:,? and [a-z_]{2,30})?|[a-z_]{2,30} and [a-z_]{2,30})`
const atTheEnd = new RegExp(String.raw`:\s*${listed}\.?\s*$`)
const inBrackets = new RegExp(String.raw`\(${listed}\)\.?\s*$`)
const ofEach = new RegExp(String.raw`\beach (?:with|as|has)(?: an?| its)? ${listed}\.?\s*$`)
/** More of a help text is not looked through. */
const longest = 400

/** The parts of an object that its description lists, in that order; fewer than two are none. */
export function partsIn(description: string): string[] {
  const text = description.slice(0, longest)
  return namesOf((atTheEnd.exec(text) ?? inBrackets.exec(text))?.[1])
}

/** The parts of each item of a list, where its description says that each has some. */
export function partsOfItems(description: string): string[] {
  return namesOf(ofEach.exec(description.slice(0, longest))?.[1])
}

function namesOf(list: string | undefined): string[] {
  const names = list?.split(/,? and |, /) ?? []
  return names.length < 2 || new Set(names).size < names.length ? [] : names
}
