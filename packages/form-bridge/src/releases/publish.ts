/** Publishing: only what a release key has signed, only plugins that are whole, only newer versions. */
import { compareVersions } from '../compare-versions.ts'
import { formBridgeError } from '../errors.ts'
import { Details } from '../items/formats.ts'
import type { Release } from '../items/release.ts'
import { isSignedBy, sha256Of } from '../signing/release-signature.ts'
import type { createReleases } from '../store/releases.ts'
import type { Latest } from '../updates/latest.ts'
import { readPackage } from './plugin-package.ts'
import { BadZip } from './zip-directory.ts'

export interface Publishing {
  slug: string
  version: string
  signature: string
  zip: Uint8Array
}

export type Publish = ReturnType<typeof createPublish>

export function createPublish(deps: {
  releases: ReturnType<typeof createReleases>
  latest: Pick<Latest, 'changed'>
  releaseKeys: readonly string[]
}) {
  const { releases, latest, releaseKeys } = deps

  return {
    async publish({ slug, version, signature, zip }: Publishing): Promise<Release> {
      if (releaseKeys.length === 0) throw formBridgeError('release_key_missing')
      const sha256 = sha256Of(zip)
      // Before anything looks into it: only what is signed is worth the trouble.
      if (!isSignedBy(releaseKeys, { slug, version, sha256 }, signature)) {
        throw formBridgeError('release_unsigned')
      }
      const found = checked(zip, slug)
      if (found.version !== version) {
        throw invalid(`Is version ${found.version} by its header, not ${version}`)
      }
      const [newest] = await releases.list(slug)
      const order = newest ? compareVersions(version, newest.version) : 1
      if (order < 0) throw formBridgeError('release_older')
      const details = Details.parse(found.details)
      const done =
        order > 0 && (await releases.publish({ slug, version, details, sha256, signature }, zip))
      if (!done) throw formBridgeError('release_exists')
      await latest.changed(slug)
      return existing({ slug, version })
    },

    async withdraw(name: { slug: string; version: string }): Promise<Release> {
      if (!(await releases.withdraw(name))) throw formBridgeError('version_not_found')
      await latest.changed(name.slug)
      return existing(name)
    },
  }

  async function existing(name: { slug: string; version: string }): Promise<Release> {
    const release = await releases.get(name)
    if (!release) throw formBridgeError('version_not_found')
    return release
  }
}

function checked(zip: Uint8Array, slug: string) {
  try {
    return readPackage(zip, slug)
  } catch (error) {
    if (error instanceof BadZip) throw invalid(error.message)
    throw error
  }
}

function invalid(message: string) {
  return formBridgeError('release_invalid', { details: [{ path: 'body', message }] })
}
