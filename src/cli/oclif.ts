/** What of oclif a plain command needs. Its index would load all the rest, help and plugins included. */
export * as Args from '@oclif/core/args'
export { Command } from '@oclif/core/command'
export * as Flags from '@oclif/core/flags'
