/** The newest release of a plugin, from the cache of the table where it is fresh. */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import * as z from 'zod'
import { formBridgeError } from '../errors.ts'
import { Details } from '../items/formats.ts'
import { type Release, releaseDetails } from '../items/release.ts'
import type { createReleases } from '../store/releases.ts'
import type { createVersionCache } from '../store/version-cache.ts'

const LatestInfo = z.object({
  slug: z.string(),
  version: z.string(),
  details: releaseDetails,
  sha256: z.string(),
  signature: z.string(),
  file_size: z.int(),
  released_at: z.string(),
})
export type LatestInfo = z.infer<typeof LatestInfo>

/** How long a process goes without looking: update checks of a fleet come all the time. */
const FRESH_MS = 5_000
const REMEMBERED = 100

export type Latest = ReturnType<typeof createLatest>

export function createLatest(deps: {
  clock: Clock
  releases: Pick<ReturnType<typeof createReleases>, 'list'>
  cache: ReturnType<typeof createVersionCache>
}) {
  const { clock, releases, cache } = deps
  const known = new Map<string, { at: number; info: LatestInfo | undefined }>()

  async function listed(slug: string): Promise<LatestInfo | undefined> {
    const newest = (await releases.list(slug)).find(({ status }) => status === 'published')
    return newest && infoOf(newest)
  }

  async function look(slug: string): Promise<LatestInfo | undefined> {
    const cached = await cache.latest(slug)
    if (cached) return LatestInfo.parse(cached)
    const info = await listed(slug)
    if (!info) return undefined
    await cache.put({ ...info, details: Details.parse(info.details) })
    // Who published or withdrew one since it was listed may have cleared the cache before this.
    const now = await listed(slug)
    if (now?.version !== info.version) await cache.clear()
    return now
  }

  async function remembered(slug: string): Promise<LatestInfo | undefined> {
    const found = known.get(slug)
    if (found && isRecent(clock, found.at, FRESH_MS)) return found.info
    const info = await look(slug)
    if (known.size >= REMEMBERED) known.clear()
    known.set(slug, { at: clock.now(), info })
    return info
  }

  return {
    async of(slug: string): Promise<LatestInfo> {
      const info = await remembered(slug)
      if (!info) throw formBridgeError('plugin_not_found')
      return info
    },

    /** Null where there is no release. */
    newestVersion: async (slug: string) => (await remembered(slug))?.version ?? null,

    /** A release was published or withdrawn. */
    async changed(slug: string): Promise<void> {
      known.delete(slug)
      await cache.clear()
      known.delete(slug)
    },
  }
}

function infoOf({
  slug,
  version,
  details,
  sha256,
  signature,
  file_size,
  ...release
}: Release): LatestInfo {
  const released_at = release.published_at ?? release.created_at
  return {
    slug,
    version,
    details: releaseDetails.parse(details),
    sha256,
    signature,
    file_size,
    released_at,
  }
}
