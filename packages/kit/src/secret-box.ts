/** Encrypts secrets for services; each ciphertext is bound to the place where it is stored. */
export interface SecretBox {
  seal(plaintext: Uint8Array, place: SecretPlace): Promise<Uint8Array>
  /**
   * Throws `SealedUnreadable` for anything that was not sealed for this place. Any other error means
   * that the keys are unavailable now: it may open later.
   */
  open(sealed: Uint8Array, place: SecretPlace): Promise<Uint8Array>
}

/** The ciphertext cannot be opened. Retrying does not help. */
export class SealedUnreadable extends Error {
  override readonly name: string = 'SealedUnreadable'
}

/** An attribute of an entity of a tenant. What is sealed for one place opens at no other. */
export interface SecretPlace {
  service: string
  tenant: string
  entity: string
  attribute: string
}
