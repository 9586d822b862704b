const longest = 80

/** A value of the deployment's as findings show it: short, and without the signed tokens of URLs. */
export function shown(value: unknown): string {
  const text = (value === undefined ? 'nothing' : JSON.stringify(value)).replaceAll(
    /([?&]t=)[^&#"\s]+/g,
    '$1***',
  )
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
