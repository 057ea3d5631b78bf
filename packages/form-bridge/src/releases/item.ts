/** Plugin releases, their packages in chunks, and the cached newest release. */
import * as z from 'zod'
import { Details, EpochSecond, IsoTime, key, Sha256, Slug, Version } from '../formats.ts'

/** Leaves room for keys and names in an item, which has at most 400 KB. */
export const CHUNK_BYTES = 350 * 1024
export const MAX_PACKAGE_BYTES = 20 * 1024 * 1024

const VersionInfo = z.object({ slug: Slug, version: Version }).catchall(z.json())
export type VersionInfo = z.infer<typeof VersionInfo>

export const VersionCacheItem = z.object({
  PK: z.literal('PLUGIN_VERSION#latest'),
  SK: z.literal('INFO'),
  GSI1PK: key('VERSION#'),
  GSI1SK: z.literal('RELEASE'),
  version_info: VersionInfo,
  cached_at: IsoTime,
  ttl: EpochSecond,
})

export const versionCacheKey = { PK: 'PLUGIN_VERSION#latest', SK: 'INFO' } as const

/** `uploading` until the package is complete. A published release changes only to `withdrawn`. */
export const ReleaseStatus = z.enum(['uploading', 'published', 'withdrawn'])

/** From the header and the readme of the package, for WordPress. */
export const ReleaseDetails = z.object({
  name: z.string(),
  author: z.string(),
  homepage: z.string(),
  requires: z.string(),
  requires_php: z.string(),
  tested: z.string(),
  upgrade_notice: z.string(),
  /** HTML by name, such as `changelog`. */
  sections: z.record(z.string(), z.string()),
})
export type ReleaseDetails = z.infer<typeof ReleaseDetails>

export const ReleaseItem = z.object({
  PK: key('PLUGIN#'),
  SK: key('VERSION#'),
  slug: Slug,
  version: Version,
  status: ReleaseStatus,
  /** `ReleaseDetails` */
  details: Details,
  sha256: Sha256,
  /** Ed25519 over slug, version and hash, in base64. The server does not have the private key. */
  signature: z.base64().length(88),
  file_size: z.int().min(1).max(MAX_PACKAGE_BYTES),
  chunks: z.int().min(1),
  created_at: IsoTime,
  published_at: IsoTime.optional(),
  /** Only this upload may write chunks. */
  upload_id: z.string().min(1),
  /** Only while it is uploading. */
  upload_expires_at: IsoTime.optional(),
})
export type Release = z.infer<typeof ReleaseItem>

export type ReleaseName = Pick<Release, 'slug' | 'version'>

export function releaseKey({ slug, version }: ReleaseName) {
  return { PK: `PLUGIN#${slug}`, SK: `VERSION#${version}` }
}

export const PackageChunkItem = z.object({
  PK: key('PACKAGE#'),
  SK: z.string().regex(/^[0-9]{4}$/),
  data: z.custom<Uint8Array>(
    (value) =>
      value instanceof Uint8Array && value.byteLength > 0 && value.byteLength <= CHUNK_BYTES,
  ),
})

export function packageChunkKey({ slug, version }: ReleaseName, number: number) {
  return { PK: `PACKAGE#${slug}#${version}`, SK: String(number).padStart(4, '0') }
}
