import { isNamed } from './db-errors.ts'

/** Encrypts secrets for services; each ciphertext is bound to the place where it is stored. */
export interface SecretBox {
  seal(plaintext: Uint8Array, place: SecretPlace): Promise<Uint8Array>
  /**
   * Throws an error that `isUnreadable` recognises for anything that was not sealed for this place.
   * Any other error means that the keys are unavailable now: it may open later.
   */
  open(sealed: Uint8Array, place: SecretPlace): Promise<Uint8Array>
}

/** Whether a ciphertext cannot be opened, now or later. */
export function isUnreadable(error: unknown): boolean {
  return isNamed(error, 'EnvelopeUnreadable')
}

/** For a service whose own format inside a ciphertext is broken. */
export function unreadable(message: string): Error {
  return Object.assign(new Error(message), { name: 'EnvelopeUnreadable' })
}

/** An attribute of an entity of a tenant. What is sealed for one place opens at no other. */
export interface SecretPlace {
  service: string
  tenant: string
  entity: string
  attribute: string
}
