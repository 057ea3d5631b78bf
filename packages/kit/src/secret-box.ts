/** What a service needs of whoever keeps secrets for it: sealing them, each for one place. */
export interface SecretBox {
  seal(plaintext: Uint8Array, place: SecretPlace): Promise<Uint8Array>
  /**
   * Throws `SealedUnreadable` for anything but what was sealed for this very place. Any other error
   * says nothing of that: the keys cannot be reached, and it may open later.
   */
  open(sealed: Uint8Array, place: SecretPlace): Promise<Uint8Array>
}

/** What was sealed does not open, however often it is tried. */
export class SealedUnreadable extends Error {
  override readonly name: string = 'SealedUnreadable'
}

/** An attribute of an entity of a tenant; what is sealed for one place opens at no other. */
export interface SecretPlace {
  service: string
  tenant: string
  entity: string
  attribute: string
}
