import type { KnownRelations } from './match.ts'

/** A package and the one that took its place: `moved`, as a person said, or only `likely`. */
export interface JoinedPackage {
  service: string
  packageId: number
  successorId: number
  how: 'moved' | 'likely'
}

/** Two services of which somebody said whether they are one. */
export interface JoinedServices {
  one: string
  other: string
  same: boolean
}

/** What was said of services and packages, as it bears on an order of one package at one service. */
export function relationsOf(
  { service, packageId }: { service: string; packageId: number },
  said: readonly JoinedServices[],
  packages: readonly JoinedPackage[],
): Pick<KnownRelations, 'joined' | 'predecessors' | 'isSameService'> {
  const isSameService = (other: string): boolean | undefined =>
    other === service ||
    said.find(
      (each) =>
        (each.one === service && each.other === other) || (each.one === other && each.other === service),
    )?.same
  const pairs = packages.filter((each) => isSameService(each.service) === true)
  const joined = joinedTo(
    packageId,
    pairs.flatMap((each) => (each.how === 'moved' ? [[each.packageId, each.successorId] as const] : [])),
  )
  const likely = pairs.filter(({ how, successorId }) => how === 'likely' && joined.has(successorId))
  return { joined, predecessors: new Set(likely.map((each) => each.packageId)), isSameService }
}

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
