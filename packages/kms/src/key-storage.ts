/**
 * What the KMS needs of a store. Whoever runs the KMS implements it; the KMS decides everything else.
 *
 * Several processes may share a store, so every write is conditional: it says `false`, and changes
 * nothing, when another process was first. Reads are strongly consistent, because a key that was
 * disabled elsewhere must not be usable here.
 */
export type KeyState = 'Enabled' | 'Disabled' | 'PendingDeletion'

export interface KeyRecord {
  /** A UUID, or `mrk-` and 32 hexadecimal digits for a multi-Region key. */
  readonly id: string
  /** Written down once: it must not change when files move or settings do. */
  readonly arn: string
  readonly description: string
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number
  /** Tells which master key the backing keys are wrapped by, see `keyCheck`. */
  readonly masterKeyCheck: Uint8Array
  readonly state: KeyState
  /** Given in the state PendingDeletion only. */
  readonly deletionAt?: number
  /** The backing key that encrypts; versions count from 1. */
  readonly currentVersion: number
  /** Counts from 1, one more with every change of the record. */
  readonly revision: number
}

/** The material of a key, wrapped by the master key. The material is never changed. */
export interface BackingKey {
  readonly version: number
  readonly createdAt: number
  readonly wrapped: Uint8Array
}

export type StateChange =
  | { readonly state: 'Enabled' | 'Disabled' }
  | { readonly state: 'PendingDeletion'; readonly deletionAt: number }

/** So that a key and all its backing keys fit into one transaction of 100 items. */
export const MOST_BACKING_KEYS = 99

export interface KeyStorage {
  load(id: string): Promise<KeyRecord | undefined>
  loadVersion(id: string, version: number): Promise<BackingKey | undefined>
  list(): Promise<readonly KeyRecord[]>
  /** False if there is a key of this id. Record and backing key are written together. */
  create(record: KeyRecord, first: BackingKey): Promise<boolean>
  /** Adds the backing key, makes it the current one and raises the revision, all in one write. */
  addVersion(id: string, backingKey: BackingKey, expectedRevision: number): Promise<boolean>
  /** Sets the state, with the deletion date or without any, and raises the revision. */
  updateState(id: string, change: StateChange, expectedRevision: number): Promise<boolean>
  /** Removes the record and all its backing keys, in one write. */
  remove(id: string, expectedRevision: number): Promise<boolean>
}
