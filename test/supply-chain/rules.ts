interface LockedPackage {
  integrity?: string
  hasInstallScript?: boolean
}

const packageNameOf = (path: string): string => path.replace(/^.*node_modules\//, '')

const readLockedPackages = (lock: string): [path: string, entry: LockedPackage][] =>
  Object.entries((JSON.parse(lock) as { packages: Record<string, LockedPackage> }).packages).filter(
    ([path]) => path !== '',
  )

/** Returns the packages of a lockfile without a SHA-512 digest: a registry could change them unnoticed. */
export function findUnpinned(lock: string): string[] {
  return readLockedPackages(lock)
    .filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)
    .map(([path]) => packageNameOf(path))
}

/**
 * Returns the packages of a lockfile that have an install script. `decided`: `allowScripts` of package.json allows or
 * forbids the script.
 */
export function findInstallScripts(
  lock: string,
  packageJson: string,
): { decided: string[]; undecided: string[] } {
  const { allowScripts } = JSON.parse(packageJson) as { allowScripts: Record<string, boolean> }
  const names = readLockedPackages(lock)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => packageNameOf(path))
  return {
    decided: names.filter((name) => name in allowScripts),
    undecided: names.filter((name) => !(name in allowScripts)),
  }
}

/**
 * Compares the packages of THIRD-PARTY-LICENSES.txt with a CycloneDX document. `missing`: packages that the document
 * does not name. `shipped`: the number of all.
 */
export function compareWithSbom(sbom: string, licences: string): { missing: string[]; shipped: number } {
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
