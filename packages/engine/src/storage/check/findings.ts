// What a check of a data directory found. Each finding says what is damaged and which remedy helps.

export type FindingKind =
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

/**
 * - `restore`: data is lost, so only a backup helps.
 * - `rebuild`: items are intact, and a backup that is made now and restored rebuilds the rest.
 * - `start`: the next start of a server does what is needed.
 * - `upgrade`: another version of the program is needed.
 * - `access`: the check could not read everything.
 */
export type Remedy = 'restore' | 'rebuild' | 'start' | 'upgrade' | 'access'

export interface Finding {
  kind: FindingKind
  message: string
  remedy: Remedy
}

/** A damaged file may have millions; the first ones say enough. */
export const MAX_FINDINGS = 100

export class Findings {
  readonly list: Finding[] = []

  get isFull(): boolean {
    return this.list.length >= MAX_FINDINGS
  }

  add(kind: FindingKind, remedy: Remedy, message: string): void {
    if (!this.isFull) this.list.push({ kind, message, remedy })
  }
}
