/**
 * Plugin releases and their packages.
 *
 * An upload claims the version first and publishes it last; each chunk is written only while the
 * claim holds. So a release that can be seen is complete, two uploads of one version cannot mix
 * their chunks, and an upload that broke off can be begun anew after a while.
 */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { randomToken } from '@strongroom/kit/ids'
import { compareVersions } from '../compare-versions.ts'
import { endingAfter, isoNow } from '../expiry.ts'
import {
  CHUNK_BYTES,
  PackageChunkItem,
  packageChunkKey,
  type Release,
  ReleaseItem,
  releaseKey,
} from '../items/release.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'
import { settle } from './settle.ts'
import { written } from '@strongroom/kit/written'

export type NewRelease = Pick<Release, 'slug' | 'version' | 'details' | 'sha256' | 'signature'>
export type ReleaseName = Pick<Release, 'slug' | 'version'>

export function createReleases({ db, clock }: StoreDeps) {
  const releases = entity(db, formBridgeTable, ReleaseItem)
  const chunks = entity(db, formBridgeTable, PackageChunkItem)
  const { attr } = releases

  async function claim(item: Release): Promise<boolean> {
    const abandoned = expr`${attr('status')} = ${'uploading'} AND ${attr('upload_expires_at')} <= ${isoNow(clock)}`
    return written(releases.put(item, expr`attribute_not_exists(${attr('PK')}) OR (${abandoned})`))
  }

  const claimed = ({ upload_id }: Release) =>
    expr`${attr('upload_id')} = ${upload_id} AND ${attr('status')} = ${'uploading'}`

  async function published(name: ReleaseName): Promise<Release | undefined> {
    const release = await releases.get(releaseKey(name))
    return release?.status === 'uploading' ? undefined : release
  }

  return {
    /** Returns false if the version is there, or is being uploaded by somebody else. */
    async publish(release: NewRelease, zip: Uint8Array): Promise<boolean> {
      const item: Release = {
        ...release,
        ...releaseKey(release),
        status: 'uploading',
        file_size: zip.byteLength,
        chunks: Math.ceil(zip.byteLength / CHUNK_BYTES),
        created_at: isoNow(clock),
        upload_id: randomToken(12),
        upload_expires_at: endingAfter(clock, lifetimes.packageUpload).iso,
      }
      if (!(await claim(item))) return false
      for (let number = 0; number < item.chunks; number++) {
        const data = zip.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES)
        const refusal = await settle(db, {
          claim: releases.part.check(releaseKey(release), claimed(item)),
          chunk: chunks.part.put({ ...packageChunkKey(release, number), data }),
        })
        if (refusal) return false
      }
      const refusal = await settle(db, {
        release: releases.part.update(
          releaseKey(release),
          expr`SET ${attr('status')} = ${'published'}, ${attr('published_at')} = ${isoNow(clock)} REMOVE ${attr('upload_expires_at')}`,
          claimed(item),
        ),
      })
      return refusal === undefined
    },

    /** Published or withdrawn; one whose package is not complete is not there. */
    get: published,

    /** Highest version first, those withdrawn among them. */
    async list(slug: string): Promise<Release[]> {
      const { items } = await releases.query({
        key: expr`${attr('PK')} = ${`PLUGIN#${slug}`} AND begins_with(${attr('SK')}, ${'VERSION#'})`,
      })
      return items
        .filter(({ status }) => status !== 'uploading')
        .toSorted((a, b) => compareVersions(b.version, a.version))
    },

    /** Takes a release back: it is no longer offered. False if it was not published. */
    withdraw(name: ReleaseName): Promise<boolean> {
      const status = attr('status')
      return written(
        releases.update(
          releaseKey(name),
          expr`SET ${status} = ${'withdrawn'}`,
          expr`${status} = ${'published'}`,
        ),
      )
    },

    /** The package of a release, chunk by chunk, so that nobody needs to hold all of it. */
    async *package(release: Release): AsyncGenerator<Uint8Array> {
      for (let number = 0; number < release.chunks; number++) {
        const chunk = await chunks.get(packageChunkKey(release, number))
        if (!chunk) throw new PackageDamaged(release, number)
        yield chunk.data
      }
    },
  }
}

/** A release whose package is not all there. */
export class PackageDamaged extends Error {
  override readonly name = 'PackageDamaged'

  constructor({ slug, version }: ReleaseName, chunk: number) {
    super(`The package of ${slug} ${version} has no chunk ${chunk}: publish a new version`)
  }
}
