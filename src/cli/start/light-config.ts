import type * as Interfaces from '@oclif/core/interfaces'

/** What a command and the parser read of oclif's configuration; this program has no hooks around commands. */
export function lightConfig(pjson: Interfaces.PJSON): Interfaces.Config {
  const config: Pick<Interfaces.Config, 'bin' | 'name' | 'pjson' | 'runHook' | 'version'> = {
    bin: pjson.oclif.bin ?? pjson.name,
    name: pjson.name,
    pjson,
    runHook: async () => ({ successes: [], failures: [] }),
    version: pjson.version,
  }
  return config as Interfaces.Config
}
