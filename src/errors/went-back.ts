/** A person asked for the question before this one. */
export class WentBack extends Error {
  constructor() {
    super('went back to the question before')
    this.name = 'WentBack'
  }
}
