/** Signs plugin packages, on a machine that the server has no access to. */
import { createPrivateKey } from 'node:crypto'
import { readPackage, readSlug } from '@strongroom/form-bridge/releases/package'
import {
  createReleaseKey,
  formatPublicKey,
  packageHash,
  signRelease,
} from '@strongroom/form-bridge/releases/signature'
import { ApiError, Failure } from '@strongroom/kit/errors'

/** A new release key: the private half as PEM, the public half as in settings. */
export function newSigningKey(): { pem: string; publicKey: string } {
  const { privateKey, publicKey } = createReleaseKey()
  return { pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), publicKey }
}

export interface PackageFacts {
  slug: string
  version: string
  sha256: string
}

/** Reads a package as the server does before it publishes one. */
export function readPackageFacts(zip: Uint8Array): PackageFacts {
  try {
    const { slug, version } = readPackage(zip, readSlug(zip))
    return { slug, version, sha256: packageHash(zip) }
  } catch (error) {
    const [problem] = error instanceof ApiError ? (error.details ?? []) : []
    if (!problem) throw error
    throw new Failure('failed', `${problem.message}. Fix the package and sign it again.`)
  }
}

export function signPackage(zip: Uint8Array, pem: string) {
  const facts = readPackageFacts(zip)
  const key = parsePrivateKey(pem)
  return { ...facts, signature: signRelease(facts, key), publicKey: formatPublicKey(key) }
}

function parsePrivateKey(pem: string) {
  const isEd25519 = (key: ReturnType<typeof createPrivateKey>) =>
    key.asymmetricKeyType === 'ed25519'
  try {
    const key = createPrivateKey(pem)
    if (isEd25519(key)) return key
  } catch {
    // The library's message may quote the key, so it is not shown.
  }
  throw new Failure(
    'failed',
    'The key is not an Ed25519 key in PEM: create one with "strongroom plugin keygen"',
  )
}
