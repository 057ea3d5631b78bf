/**
 * The store that the KMS needs. The host program implements it; the KMS decides everything else.
 *
 * Several processes may share a store, so every write is conditional: it returns `false` and changes
 * nothing if another process wrote first. Reads are strongly consistent, because a key that another
 * process disabled must not be usable here.
 */
export type KeyState = 'Enabled' | 'Disabled' | 'PendingDeletion'

export interface KeyRecord {
  /** A UUID, or `mrk-` and 32 hexadecimal digits for a multi-Region key. */
  readonly id: string
  /** Stored once, so that it does not change when files move or settings change. */
  readonly arn: string
  readonly description: string
  /** Milliseconds since the epoch, like all times here. */
  readonly createdAt: number
  /** Identifies the master key that wraps the backing keys, see `keyCheck`. */
  readonly masterKeyCheck: Uint8Array
  readonly state: KeyState
  /** Only in the state PendingDeletion. */
  readonly deletionAt?: number
  /** When a sweep first saw that the deletion date had passed. */
  readonly dueSeenAt?: number
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

/** A key and all its backing keys must fit into one transaction of 100 items. */
export const MAX_BACKING_KEYS = 99

export interface KeyStorage {
  load(id: string): Promise<KeyRecord | undefined>
  loadVersion(id: string, version: number): Promise<BackingKey | undefined>
  list(): Promise<readonly KeyRecord[]>
  /** False if the id exists. Record and backing key are written together. */
  create(record: KeyRecord, first: BackingKey): Promise<boolean>
  /** Adds the backing key, makes it the current one and raises the revision, all in one write. */
  addVersion(id: string, backingKey: BackingKey, expectedRevision: number): Promise<boolean>
  /** Sets the state, sets or removes the deletion date, removes `dueSeenAt`, and raises the revision. */
  updateState(id: string, change: StateChange, expectedRevision: number): Promise<boolean>
  /** Sets or removes `dueSeenAt`, and raises the revision. */
  updateDueSeenAt(
    id: string,
    dueSeenAt: number | undefined,
    expectedRevision: number,
  ): Promise<boolean>
  /** Removes the record and all its backing keys, in one write. */
  remove(id: string, expectedRevision: number): Promise<boolean>
}

/**
 * The store for changing the master key. One entry says which master key a store belongs to and which one
 * is next. All writes here are conditional on it; `false` means that the condition failed and nothing was
 * written.
 *
 * Until the change is decided, each backing key has two wrapped forms, so either master key opens
 * everything. During a change `create` and `addVersion` are rejected, because a new backing key would
 * have only one form.
 */
export interface MasterKeyChange {
  /** The checks of the two master keys, see `keyCheck`. */
  readonly current: Uint8Array
  readonly next: Uint8Array
  /** A decided change cannot be undone, and any process may finish it. */
  readonly decided: boolean
}

export interface RewrappedKey {
  readonly version: number
  /** Wrapped by the current master key. */
  readonly from: Uint8Array
  /** Wrapped by the next master key. */
  readonly to: Uint8Array
}

export interface RekeyStorage {
  /** The running or interrupted change. */
  change(): Promise<MasterKeyChange | undefined>
  /** Starts a change; `replacing` must be the undecided change that it replaces. */
  begin(current: Uint8Array, next: Uint8Array, replacing: Uint8Array | undefined): Promise<boolean>
  /** Adds the second form to all backing keys of a key, in one write. */
  stage(id: string, backingKeys: readonly RewrappedKey[], next: Uint8Array): Promise<boolean>
  decide(next: Uint8Array): Promise<boolean>
  /** Abandons an undecided change. */
  abandon(next: Uint8Array): Promise<boolean>
  /** Makes the second form of a key's backing keys the only one, in one write. */
  promote(
    id: string,
    versions: number,
    next: Uint8Array,
    expectedRevision: number,
  ): Promise<boolean>
  /** The store belongs to the next master key. */
  end(next: Uint8Array): Promise<boolean>
}
