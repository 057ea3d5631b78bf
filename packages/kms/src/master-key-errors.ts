/** What can be wrong with a master key. One base class, so that a program can print it as one line. */
export class MasterKeyError extends Error {
  override readonly name: string = 'MasterKeyError'
}

/** The keys in the store are wrapped by another master key. */
export class WrongMasterKey extends MasterKeyError {
  override readonly name = 'WrongMasterKey'
}

/** There is no file. Never a reason to make one: that would give up all that the old key wraps. */
export class MasterKeyMissing extends MasterKeyError {
  override readonly name = 'MasterKeyMissing'
}

/** A new master key was to be made where there is one. */
export class MasterKeyExists extends MasterKeyError {
  override readonly name = 'MasterKeyExists'
}

/** Other users of the machine could read or replace the file. */
export class MasterKeyExposed extends MasterKeyError {
  override readonly name = 'MasterKeyExposed'
}

/** The end of the file is missing. */
export class MasterKeyTruncated extends MasterKeyError {
  override readonly name = 'MasterKeyTruncated'
}

/** The file is not what was written. */
export class MasterKeyDamaged extends MasterKeyError {
  override readonly name = 'MasterKeyDamaged'
}

/** The file is something else, or of a later version. */
export class MasterKeyForeign extends MasterKeyError {
  override readonly name = 'MasterKeyForeign'
}

export class PassphraseNeeded extends MasterKeyError {
  override readonly name = 'PassphraseNeeded'
}

export class WrongPassphrase extends MasterKeyError {
  override readonly name = 'WrongPassphrase'
}
