/**
 * Plugin releases and their packages.
 *
 * An upload claims the version first and publishes it last, and writes each chunk on the condition
 * that its claim still holds. So a published release is complete, two uploads of one version cannot
 * mix their chunks, and an abandoned upload can be replaced after a while.
 */
import type { Db } from '@strongroom/kit/db'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { randomToken } from '@strongroom/kit/ids'
import { transactParts } from '@strongroom/kit/transact'
import { formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import { expiresIn, isoNow } from '../time.ts'
import {
  CHUNK_BYTES,
  PackageChunkItem,
  packageChunkKey,
  type Release,
  ReleaseItem,
  releaseKey,
  type ReleaseName,
} from './item.ts'
import { compareVersions } from './version.ts'

export type NewRelease = Pick<Release, 'slug' | 'version' | 'details' | 'sha256' | 'signature'>

export type ReleaseStore = ReturnType<typeof createReleaseStore>

export function createReleaseStore({ db, clock }: StoreDeps) {
  const releases = entity(db, formBridgeTable, ReleaseItem)
  const chunks = entity(db, formBridgeTable, PackageChunkItem)
  const { attr } = releases

  function claim(item: Release): Promise<boolean> {
    const isAbandoned = expr`${attr('status')} = ${'uploading'} AND ${attr('upload_expires_at')} <= ${isoNow(clock)}`
    return conditionHeld(
      releases.put(item, expr`attribute_not_exists(${attr('PK')}) OR (${isAbandoned})`),
    )
  }

  const isClaimed = ({ upload_id }: Release) =>
    expr`${attr('upload_id')} = ${upload_id} AND ${attr('status')} = ${'uploading'}`

  return {
    /** `conflict`: the version exists, or another upload claims it. */
    async publish(
      release: NewRelease,
      zip: Uint8Array,
      /** Where the last write is made, which publishes it. */
      on: Db = db,
    ): Promise<{ kind: 'published' | 'conflict' }> {
      const item: Release = {
        ...release,
        ...releaseKey(release),
        status: 'uploading',
        file_size: zip.byteLength,
        chunks: Math.ceil(zip.byteLength / CHUNK_BYTES),
        created_at: isoNow(clock),
        upload_id: randomToken(12),
        upload_expires_at: expiresIn(clock, TTL_SECONDS.packageUpload).iso,
      }
      if (!(await claim(item))) return { kind: 'conflict' }
      for (let number = 0; number < item.chunks; number++) {
        const data = zip.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES)
        const result = await transactParts(db, {
          claim: releases.part.check(releaseKey(release), isClaimed(item)),
          chunk: chunks.part.put({ ...packageChunkKey(release, number), data }),
        })
        if (result.kind === 'refused') return { kind: 'conflict' }
      }
      const result = await transactParts(on, {
        release: releases.part.update(
          releaseKey(release),
          expr`SET ${attr('status')} = ${'published'}, ${attr('published_at')} = ${isoNow(clock)} REMOVE ${attr('upload_expires_at')}`,
          isClaimed(item),
        ),
      })
      return { kind: result.kind === 'done' ? 'published' : 'conflict' }
    },

    /** Published or withdrawn. */
    async get(name: ReleaseName): Promise<Release | undefined> {
      const release = await releases.get(releaseKey(name))
      return release?.status === 'uploading' ? undefined : release
    },

    /** Published or withdrawn, highest version first. */
    async list(slug: string): Promise<Release[]> {
      const { items } = await releases.query({
        key: expr`${attr('PK')} = ${`PLUGIN#${slug}`} AND begins_with(${attr('SK')}, ${'VERSION#'})`,
      })
      return items
        .filter(({ status }) => status !== 'uploading')
        .toSorted((a, b) => compareVersions(b.version, a.version))
    },

    /** False if it was not published. */
    withdraw(name: ReleaseName, on: Db = db): Promise<boolean> {
      const status = attr('status')
      return conditionHeld(
        entity(on, formBridgeTable, ReleaseItem).change(
          releaseKey(name),
          expr`SET ${status} = ${'withdrawn'}`,
          expr`${status} = ${'published'}`,
        ),
      )
    },

    /** Chunk by chunk, so the package is never all in memory. */
    async *package(release: Release): AsyncGenerator<Uint8Array> {
      for (let number = 0; number < release.chunks; number++) {
        const chunk = await chunks.get(packageChunkKey(release, number))
        if (!chunk) {
          const name = `${release.slug} ${release.version}`
          throw new Error(`The package of ${name} has no chunk ${number}. Publish a new version.`)
        }
        yield chunk.data
      }
    },
  }
}
