/** Releases in responses. */
import { z } from '@hono/zod-openapi'
import type { Release } from './item.ts'

export const ReleaseView = z
  .object({
    slug: z.string(),
    version: z.string(),
    status: z.string(),
    sha256: z.string(),
    signature: z.string(),
    file_size: z.int(),
    published_at: z.string().nullable(),
  })
  .openapi('FormBridgeRelease')

export type ReleaseLine = z.infer<typeof ReleaseView>

export function toReleaseView(release: Release): ReleaseLine {
  return ReleaseView.parse({ ...release, published_at: release.published_at ?? null })
}
