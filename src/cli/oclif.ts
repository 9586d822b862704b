/** The parts of oclif that every command needs. The index of oclif would also load help and plugins. */
import type * as Interfaces from '@oclif/core/interfaces'

export * as Args from '@oclif/core/args'
export { Command } from '@oclif/core/command'
export * as Flags from '@oclif/core/flags'

/** The values of flags with these definitions. */
export type ValuesOf<Definitions> = Interfaces.InferredFlags<Definitions>
