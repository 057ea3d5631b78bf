/**
 * The store that the KMS needs. The host program implements it; the KMS decides everything else.
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
  /** Identifies the master key that wraps the backing keys, see `keyCheck`. */
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
export const MAX_BACKING_KEYS = 99

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

/**
 * What changing the master key needs of a store, besides `KeyStorage`. Which master key a store
 * belongs to, and which one it is about to, is one entry of it, which every write here has as its
 * condition; `false` means that it did not hold and nothing was written.
 *
 * Until the change is decided each backing key has two wrapped forms, so that either master key
 * opens everything. While there is a change, `create` and `addVersion` are refused: what they add
 * would have one form only.
 */
export interface MasterKeyChange {
  /** The checks of the two master keys, see `keyCheck`. */
  readonly current: Uint8Array
  readonly next: Uint8Array
  /** From then on there is no way back, and any process may finish it. */
  readonly decided: boolean
}

export interface RewrappedKey {
  readonly version: number
  /** By the present master key: what it was made from. */
  readonly from: Uint8Array
  /** By the next one. */
  readonly to: Uint8Array
}

export interface RekeyStorage {
  /** The change that is under way or was cut short. */
  change(): Promise<MasterKeyChange | undefined>
  /** Takes the place of a change that is not decided, which `replacing` must name. */
  begin(current: Uint8Array, next: Uint8Array, replacing: Uint8Array | undefined): Promise<boolean>
  /** Gives all backing keys of a key their second form, in one write. */
  stage(id: string, backingKeys: readonly RewrappedKey[], next: Uint8Array): Promise<boolean>
  decide(next: Uint8Array): Promise<boolean>
  /** Gives up a change that is not decided. */
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
