interface Locked {
  integrity?: string
  hasInstallScript?: boolean
}

const nameOf = (path: string): string => path.replace(/^.*node_modules\//, '')

const lockedIn = (lock: string): [path: string, locked: Locked][] =>
  Object.entries((JSON.parse(lock) as { packages: Record<string, Locked> }).packages).filter(
    ([path]) => path !== '',
  )

/** Packages of a lockfile that a registry could change unnoticed. */
export function unpinned(lock: string): string[] {
  return lockedIn(lock)
    .filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)
    .map(([path]) => nameOf(path))
}

/** Packages that bring a script for their installation: those that `allowScripts` of package.json decides on, and the others. */
export function installScripts(lock: string, pjson: string): { decided: string[]; undecided: string[] } {
  const { allowScripts } = JSON.parse(pjson) as { allowScripts: Record<string, boolean> }
  const names = lockedIn(lock)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => nameOf(path))
  return {
    decided: names.filter((name) => name in allowScripts),
    undecided: names.filter((name) => !(name in allowScripts)),
  }
}

/** Packages whose licence travels with the program, and those of them that a CycloneDX document does not name. */
export function shippedWithout(sbom: string, licences: string): { missing: string[]; shipped: number } {
  const { components } = JSON.parse(sbom) as {
    components: { group?: string; name: string; version: string }[]
  }
  const named = new Set(
    components.map(
      ({ group, name, version }) => `${group === undefined ? name : `${group}/${name}`} ${version}`,
    ),
  )
  const shipped = [...licences.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+ \d+\.\d+\.\d+\S*) \(/gm)].map(
    ([, found = '']) => found,
  )
  return { missing: shipped.filter((each) => !named.has(each)), shipped: shipped.length }
}
