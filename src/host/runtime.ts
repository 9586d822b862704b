import { arch, release } from 'node:os'

/** The version of Node that runs this, such as "24.21.0". */
export const nodeVersion = (): string => process.versions.node

/** Whether a file's mode says who may read it; Windows tells made-up ones. */
export const hasFileModes = (platform: NodeJS.Platform = process.platform): boolean => platform !== 'win32'

/** What kind of machine this is; nothing of it names anybody. */
export const machineKind = () => ({
  node: nodeVersion(),
  platform: process.platform,
  architecture: arch(),
  release: release(),
})
