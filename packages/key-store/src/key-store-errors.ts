/**
 * What a key store refuses, before it calls KMS or writes anything. Each class is known by its
 * `name`. Messages say what to do, and name no ids and no values.
 */

/** The key store was given a KMS configuration that it cannot work with. */
export class InvalidKmsConfiguration extends Error {
  override readonly name = 'InvalidKmsConfiguration'
  constructor(what: 'its kind' | 'its arn' | 'its region') {
    const remedy = {
      'its kind': 'choose kmsKeyArn, kmsMRKeyArn, discovery or mrDiscovery',
      'its arn': 'give the ARN of a KMS key, arn:aws:kms:{region}:{account}:key/{id}',
      'its region': 'give the region in which multi-Region keys are to be used',
    }
    super(`Cannot use this KMS configuration because of ${what}: ${remedy[what]}`)
  }
}

export class KmsAliasNotAllowed extends Error {
  override readonly name = 'KmsAliasNotAllowed'
  constructor() {
    super('Cannot use the ARN of a KMS alias: give the ARN of the key that it stands for')
  }
}

export class InvalidGrantTokens extends Error {
  override readonly name = 'InvalidGrantTokens'
  constructor() {
    super('Cannot use these grant tokens: give at most 10, each of 1 to 8192 characters')
  }
}

/** Discovery names no key under which a branch key could be made. */
export class DiscoveryCannotWrite extends Error {
  override readonly name = 'DiscoveryCannotWrite'
  constructor() {
    super(
      'Cannot create or rotate branch keys with discovery: configure the key store with kmsKeyArn or kmsMRKeyArn',
    )
  }
}

/** A branch key whose id is chosen must say by its context whose key it is. */
export class EncryptionContextRequired extends Error {
  override readonly name = 'EncryptionContextRequired'
  constructor() {
    super(
      'A branch key identifier of your own requires encryption context: give at least one pair, or leave the identifier out',
    )
  }
}

export class InvalidEncryptionContext extends Error {
  override readonly name = 'InvalidEncryptionContext'
  constructor() {
    super(
      'Cannot use this encryption context: give an object of strings in valid Unicode, with names of at most 65,521 bytes',
    )
  }
}

export class InvalidIdentifier extends Error {
  override readonly name = 'InvalidIdentifier'
  constructor() {
    super(
      'Cannot use this branch key identifier: give a string of at most 2048 bytes in valid Unicode',
    )
  }
}

/** A version that no branch key can have. */
export class InvalidBranchKeyVersion extends Error {
  override readonly name = 'InvalidBranchKeyVersion'
  constructor() {
    super(
      'A branch key version is a UUID in lower case, without a prefix: give the one that came with the key',
    )
  }
}

/** An item names another KMS key than this key store is configured for. */
export class KmsKeyMismatch extends Error {
  override readonly name = 'KmsKeyMismatch'
  constructor() {
    super(
      'The kms-arn of the branch key is not the configured KMS key: configure the key store with the key that the branch key was made under',
    )
  }
}

/** An item names no KMS key at all. */
export class CorruptKmsArn extends Error {
  override readonly name = 'CorruptKmsArn'
  constructor() {
    super('The kms-arn of the branch key is no ARN of a KMS key: restore the item from a backup')
  }
}
