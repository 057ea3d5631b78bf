/** What a service needs of whoever keeps secrets for it: sealing them, each for one place. */
export interface SecretBox {
  seal(plaintext: Uint8Array, place: SecretPlace): Promise<Uint8Array>
  /** Throws for anything but what was sealed for this very place. */
  open(sealed: Uint8Array, place: SecretPlace): Promise<Uint8Array>
}

/** An attribute of an entity of a tenant; what is sealed for one place opens at no other. */
export interface SecretPlace {
  service: string
  tenant: string
  entity: string
  attribute: string
}
