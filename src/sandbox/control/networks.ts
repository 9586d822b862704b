/** For those who start a sandbox and may not reach into its service. */
export { networksOf } from '../service/networks.ts'
