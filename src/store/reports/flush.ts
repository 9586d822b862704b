import { flushFolder } from '../../disk/flush-folder.ts'

/** Flushes folders to the disk; those who ask while one flush runs share the next. */
export class FolderFlushes {
  /** The last flush of each folder, over or not, and the one that comes after it. */
  readonly #running = new Map<string, { now: Promise<void>; next: Promise<void> | undefined }>()

  /** Resolves once every name put into the folder before the call is on the disk. */
  flush(folder: string): Promise<void> {
    const running = this.#running.get(folder)
    if (running === undefined) return this.#start(folder)
    running.next ??= running.now.catch(() => undefined).then(() => this.#start(folder))
    return running.next
  }

  #start(folder: string): Promise<void> {
    const now = flushFolder(folder)
    this.#running.set(folder, { now, next: undefined })
    return now
  }
}
