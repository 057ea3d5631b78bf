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
