/** Signals between the parts of one process. Other processes find out from the store, a little later. */
export interface LocalEvents {
  /** A source or one of its connections was changed: caches of it are stale. */
  sourceChanged(sourceId: string): void
  /** The plan of a user was changed, or the user was deleted. */
  userChanged(userId: string): void
  /** Tasks may have become due, such as those of a resumed connection. */
  workDue(): void
}
