/** Plugin releases: the cached newest one, the durable ones, and their packages in chunks. */
import * as z from 'zod'
import { Details, EpochSecond, IsoTime, key, Sha256, Slug, Version } from './formats.ts'

/** An item holds 400 KB at most, of which its key and names need some. */
export const CHUNK_BYTES = 350 * 1024
export const LARGEST_PACKAGE_BYTES = 20 * 1024 * 1024

/** The details of the newest version; which plugin's and which one are always among them. */
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

/** Uploading until its package is complete; a published one never changes but to be withdrawn. */
export const ReleaseStatus = z.enum(['uploading', 'published', 'withdrawn'])

/** What WordPress is told of a release, as the header and the readme of its package say it. */
export const releaseDetails = z.object({
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
export type ReleaseDetails = z.infer<typeof releaseDetails>

export const ReleaseItem = z.object({
  PK: key('PLUGIN#'),
  SK: key('VERSION#'),
  slug: Slug,
  version: Version,
  status: ReleaseStatus,
  /** What WordPress is told of it: requirements, changelog, sections. */
  details: Details,
  sha256: Sha256,
  /** Ed25519 over slug, version and hash, in base64; made where the server has no access. */
  signature: z.base64().length(88),
  file_size: z.int().min(1).max(LARGEST_PACKAGE_BYTES),
  chunks: z.int().min(1),
  created_at: IsoTime,
  published_at: IsoTime.optional(),
  /** Whose upload it is; the chunks of any other are refused. */
  upload_id: z.string().min(1),
  /** Only while it is uploading. */
  upload_expires_at: IsoTime.optional(),
})
export type Release = z.infer<typeof ReleaseItem>

export function releaseKey({ slug, version }: Pick<Release, 'slug' | 'version'>) {
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

export function packageChunkKey(
  { slug, version }: Pick<Release, 'slug' | 'version'>,
  number: number,
) {
  return { PK: `PACKAGE#${slug}#${version}`, SK: String(number).padStart(4, '0') }
}
