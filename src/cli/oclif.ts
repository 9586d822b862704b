/** What of oclif a plain command needs. Its index would load all the rest, help and plugins included. */
import type * as Interfaces from '@oclif/core/interfaces'

export * as Args from '@oclif/core/args'
export { Command } from '@oclif/core/command'
export * as Flags from '@oclif/core/flags'

/** What a command finds in flags that are defined so. */
export type ValuesOf<Definitions> = Interfaces.InferredFlags<Definitions>
