/** What a key storage refuses or finds wrong. Messages name attributes, never ids or values. */
import type { Item } from '@strongroom/kit/db'

/** Another rotation was faster: the active item is not the one that was read. */
export class VersionRace extends Error {
  override readonly name = 'VersionRace'
  constructor(options?: ErrorOptions) {
    super(
      'The branch key was rotated by someone else meanwhile: read it again, and rotate if it still has to be',
      options,
    )
  }
}

/** There is a branch key of this id, or a version of this name, already. */
export class BranchKeyExists extends Error {
  override readonly name = 'BranchKeyExists'
  constructor(options?: ErrorOptions) {
    super('There is such a branch key already: read it, or choose another id', options)
  }
}

export class BranchKeyNotFound extends Error {
  override readonly name = 'BranchKeyNotFound'
  constructor(options?: ErrorOptions) {
    super('No item found for corresponding branch key identifier: create the key first', options)
  }
}

/** A key was asked for by an empty id or version. */
export class EmptyIdentifier extends Error {
  override readonly name = 'EmptyIdentifier'
  constructor(what: 'branch key identifier' | 'branch key version') {
    super(`Empty string not supported for ${what}: give at least one character`)
  }
}

/** An encrypted key whose parts contradict each other, so that no reader could open it. */
export class EncryptedKeyMismatch extends Error {
  override readonly name = 'EncryptedKeyMismatch'
  readonly attribute: string
  constructor(attribute: string) {
    super(
      `The parts of an encrypted branch key disagree about ${attribute}: do not store or use it`,
    )
    this.attribute = attribute
  }
}

/** The store answered with another item than the one that was asked for. */
export class UnexpectedItem extends Error {
  override readonly name = 'UnexpectedItem'
  readonly table: string
  readonly key: Item
  constructor(table: string, key: Item) {
    super(`The store gave another item of ${table} than it was asked for: do not trust this store`)
    this.table = table
    this.key = key
  }
}

/** There is a table of this name that is made for something else. */
export class TableDoesNotConform extends Error {
  override readonly name = 'TableDoesNotConform'
  constructor() {
    super(
      'The table of this name is not one of a key store, its keys must be branch-key-id and type, both strings: choose another name',
    )
  }
}

/** A valid item of a format that is not implemented here. */
export class UnsupportedHierarchyVersion extends Error {
  override readonly name = 'UnsupportedHierarchyVersion'
  readonly table: string
  readonly key: Item
  constructor(table: string, key: Item) {
    super(
      `Cannot read an item of ${table}: its hierarchy-version is not 1, use the library that wrote it`,
    )
    this.table = table
    this.key = key
  }
}
