/** What other parts of the service in this process want to hear at once; the store tells them later. */
export interface Notices {
  /** A source or one of its connections was changed: what is remembered of it is old. */
  sourceChanged(sourceId: string): void
  /** The plan of a user was changed, or the user deleted. */
  userChanged(userId: string): void
  /** There may be work that was waiting, such as that of a resumed connection. */
  workDue(): void
}
