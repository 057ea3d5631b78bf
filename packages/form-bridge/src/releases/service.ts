/** Publishes and withdraws releases. A release must be signed, valid and newer than all others. */
import type { Db } from '@strongroom/kit/db'
import { formBridgeError } from '../errors.ts'
import { Details } from '../formats.ts'
import type { Release, ReleaseName } from './item.ts'
import type { LatestRelease } from './latest.ts'
import { readPackage } from './package.ts'
import { isSignedBy, packageHash } from './signature.ts'
import type { ReleaseStore } from './store.ts'
import { compareVersions } from './version.ts'
import { invalidPackage } from './zip.ts'

export interface ReleaseUpload extends ReleaseName {
  signature: string
  zip: Uint8Array
}

export type ReleaseService = ReturnType<typeof createReleaseService>

export function createReleaseService(deps: {
  releases: ReleaseStore
  latestRelease: Pick<LatestRelease, 'invalidate'>
  releaseKeys: readonly string[]
}) {
  const { releases, latestRelease, releaseKeys } = deps

  async function requireRelease(name: ReleaseName): Promise<Release> {
    const release = await releases.get(name)
    if (!release) throw formBridgeError('version_not_found')
    return release
  }

  return {
    /** The write that publishes it is made `on` the given store. */
    async publish({ slug, version, signature, zip }: ReleaseUpload, on?: Db): Promise<Release> {
      if (releaseKeys.length === 0) throw formBridgeError('release_key_missing')
      const sha256 = packageHash(zip)
      // First, so unsigned packages are not parsed.
      if (!isSignedBy(releaseKeys, { slug, version, sha256 }, signature)) {
        throw formBridgeError('release_unsigned')
      }
      const content = readPackage(zip, slug)
      if (content.version !== version) {
        throw invalidPackage(`The plugin header has version ${content.version}, not ${version}`)
      }
      const [newest] = await releases.list(slug)
      const order = newest ? compareVersions(version, newest.version) : 1
      if (order < 0) throw formBridgeError('release_older')
      if (order === 0) throw formBridgeError('release_exists')
      const details = Details.parse(content.details)
      const release = { slug, version, details, sha256, signature }
      const { kind } = await releases.publish(release, zip, on)
      if (kind === 'conflict') throw formBridgeError('release_exists')
      await latestRelease.invalidate(slug)
      return requireRelease({ slug, version })
    },

    async withdraw(name: ReleaseName, on?: Db): Promise<Release> {
      if (!(await releases.withdraw(name, on))) throw formBridgeError('version_not_found')
      await latestRelease.invalidate(name.slug)
      return requireRelease(name)
    },
  }
}
