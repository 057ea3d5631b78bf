// What a check of a data directory found. Each problem says what is damaged and which remedy helps.

export type ProblemKind =
  | 'file'
  | 'format'
  | 'page'
  | 'catalog'
  | 'item'
  | 'index'
  | 'ttl'
  | 'change'
  | 'stream'
  | 'job'
  | 'backup'
  | 'count'
  | 'token'
  | 'key'

/**
 * - `restore`: data is lost, so only a backup helps.
 * - `rebuild`: items are intact, and a backup that is made now and restored rebuilds the rest.
 * - `start`: the next start of a server does what is needed.
 * - `upgrade`: another version of the program is needed.
 * - `access`: the check could not read everything.
 */
export type Remedy = 'restore' | 'rebuild' | 'start' | 'upgrade' | 'access'

export interface Problem {
  kind: ProblemKind
  message: string
  remedy: Remedy
}

/** A damaged file may have millions; the first ones say enough. */
export const MAX_PROBLEMS = 100

export class Problems {
  readonly list: Problem[] = []

  get isFull(): boolean {
    return this.list.length >= MAX_PROBLEMS
  }

  add(kind: ProblemKind, remedy: Remedy, message: string): void {
    if (!this.isFull) this.list.push({ kind, message, remedy })
  }
}
