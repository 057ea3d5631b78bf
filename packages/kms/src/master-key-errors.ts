/** What can be wrong with a master key. One base class, so that a program can print it as one line. */
export class MasterKeyError extends Error {
  override readonly name: string = 'MasterKeyError'
}

/** The keys in the store are wrapped by another master key. */
export class WrongMasterKey extends MasterKeyError {
  override readonly name = 'WrongMasterKey'
}
