/** The names of master key errors; docs/library-errors.md says what to do about each. */
export type MasterKeyErrorName =
  | 'MasterKeyError'
  /** The keys in the store are wrapped by another master key. */
  | 'WrongMasterKey'
  /** There is no file. Do not create a new one: it could not open anything that the old key wraps. */
  | 'MasterKeyMissing'
  /** A new master key was to be created where one exists. */
  | 'MasterKeyExists'
  /** Other users of the machine could read or replace the file. */
  | 'MasterKeyExposed'
  /** The end of the file is missing. */
  | 'MasterKeyTruncated'
  /** The file was changed. */
  | 'MasterKeyDamaged'
  /** The file is something else, or from a later version. */
  | 'MasterKeyForeign'
  | 'PassphraseNeeded'
  | 'WrongPassphrase'

/** The message is one line that a program can print. */
export class MasterKeyError extends Error {
  override readonly name: MasterKeyErrorName

  constructor(name: MasterKeyErrorName, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = name
  }
}

export function isMasterKeyError(error: unknown, name: MasterKeyErrorName): boolean {
  return error instanceof MasterKeyError && error.name === name
}
