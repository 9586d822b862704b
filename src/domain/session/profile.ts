export interface Profile {
  /** No trailing slash. */
  baseUrl: string
  userEmail: string
}
