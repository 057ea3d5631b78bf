/** What the command line does with Form-Bridge on the store itself, without a server. */
import { createPrivateKey } from 'node:crypto'
import { createSiteDesk, type SiteDesk } from '@strongroom/form-bridge/administration/site-desk'
import { readPackage, slugIn } from '@strongroom/form-bridge/releases/plugin-package'
import { createPublish, type Publish } from '@strongroom/form-bridge/releases/publish'
import { BadZip } from '@strongroom/form-bridge/releases/zip-directory'
import {
  newReleaseKey,
  publicKeyText,
  sha256Of,
  signRelease,
} from '@strongroom/form-bridge/signing/release-signature'
import { createDataLayer } from '@strongroom/form-bridge/store/data-layer'
import { createLatest } from '@strongroom/form-bridge/updates/latest'
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'

interface On {
  db: Db
  clock: Clock
}

export function siteDeskOn(on: On): SiteDesk {
  const layer = createDataLayer(on)
  return createSiteDesk({ ...layer, checks: layer.updateChecks })
}

export function publishOn(on: On, releaseKeys: readonly string[]): Publish {
  const { releases, versionCache: cache } = createDataLayer(on)
  return createPublish({ releases, latest: createLatest({ ...on, releases, cache }), releaseKeys })
}

export function releasesOn(on: On, slug: string) {
  return createDataLayer(on).releases.list(slug)
}

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
