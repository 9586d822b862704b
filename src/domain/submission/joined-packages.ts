/** Every package that pairs join to one, however long the chain; itself included. */
export function joinedTo(packageId: number, pairs: readonly (readonly [number, number])[]): Set<number> {
  const joined = new Set([packageId])
  for (let size = 0; size !== joined.size;) {
    size = joined.size
    for (const [one, other] of pairs) {
      if (joined.has(one)) joined.add(other)
      if (joined.has(other)) joined.add(one)
    }
  }
  return joined
}
