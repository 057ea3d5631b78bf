/** Signs packages of a plugin, where the server has no access. */
import { createPrivateKey } from 'node:crypto'
import { readPackage, slugIn } from '@strongroom/form-bridge/releases/plugin-package'
import { BadZip } from '@strongroom/form-bridge/releases/zip-directory'
import {
  newReleaseKey,
  publicKeyText,
  sha256Of,
  signRelease,
} from '@strongroom/form-bridge/signing/release-signature'

/** A package or a key cannot be used; the message is one line that says what to do. */
export class CannotSign extends Error {
  override readonly name = 'CannotSign'
}

/** A new key for releases: the private half as PEM, the public half as settings have it. */
export function newSigningKey(): { pem: string; publicKey: string } {
  const { privateKey, publicKey } = newReleaseKey()
  return { pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), publicKey }
}

export interface PackageFacts {
  slug: string
  version: string
  sha256: string
}

/** What a package says of itself, if it is one that a server would publish. */
export function packageFacts(zip: Uint8Array): PackageFacts {
  try {
    const { slug, version } = readPackage(zip, slugIn(zip))
    return { slug, version, sha256: sha256Of(zip) }
  } catch (error) {
    if (error instanceof BadZip)
      throw new CannotSign(`The package cannot be used: ${error.message}`)
    throw error
  }
}

export function signPackage(zip: Uint8Array, pem: string) {
  const facts = packageFacts(zip)
  const key = privateKeyIn(pem)
  return { ...facts, signature: signRelease(facts, key), publicKey: publicKeyText(key) }
}

function privateKeyIn(pem: string) {
  const isEd25519 = (key: ReturnType<typeof createPrivateKey>) =>
    key.asymmetricKeyType === 'ed25519'
  try {
    const key = createPrivateKey(pem)
    if (isEd25519(key)) return key
  } catch {
    // Said below: what the library says of a key may quote it.
  }
  throw new CannotSign('The key is no Ed25519 key in PEM: make one with "strongroom plugin keygen"')
}
