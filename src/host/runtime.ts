/** The version of Node that runs this, such as "24.21.0". */
export const nodeVersion = (): string => process.versions.node

/** Whether a file's mode says who may read it; Windows tells made-up ones. */
export const hasFileModes = (platform: NodeJS.Platform = process.platform): boolean => platform !== 'win32'
