/**
 * Request counts of sites, for people to read. They are collected in memory and written once a minute
 * for each site, because the limits do not depend on them.
 */
import type { Clock } from '@strongroom/platform/clock'
import type { AuthenticationStore } from '../authentication/store.ts'
import type { Site } from '../sites/item.ts'
import type { SiteStore } from '../sites/store.ts'
import { ratePartition, type RateSubject } from './item.ts'
import type { RateStore } from './store.ts'

const BUCKET_SECONDS = 60

type CountedSite = Pick<Site, 'site_id' | 'domain' | 'api_key_hash'>

interface PendingUsage {
  /** The minute since the epoch in which it was last written. */
  minute: number
  subject: RateSubject & { site_id: string }
  site: CountedSite
  requests: number
  remaining: number
}

export type Usage = ReturnType<typeof createUsage>

export function createUsage(deps: {
  clock: Clock
  rates: Pick<RateStore, 'count'>
  sites: Pick<SiteStore, 'recordRequests'>
  authentication: Pick<AuthenticationStore, 'recordApiKeyUse'>
}) {
  const { clock, rates, sites, authentication } = deps
  const pending = new Map<string, PendingUsage>()

  async function write({ subject, site, requests, remaining }: PendingUsage): Promise<void> {
    await rates.count(subject, BUCKET_SECONDS, requests)
    // The function that answers update checks has no permission to write credentials, see `iam.ts`.
    if (subject.scope === 'update_check') return
    await sites.recordRequests(site, { requests, remaining })
    await authentication.recordApiKeyUse(site.api_key_hash)
  }

  return {
    /** Writes the first request of a site immediately, and those of the same minute later. */
    async record(
      scope: 'api' | 'webhook' | 'update_check',
      site: CountedSite,
      remaining: number,
    ): Promise<void> {
      const subject = { scope, site_id: site.site_id } as const
      const name = ratePartition(subject)
      const minute = Math.floor(clock.now() / 1000 / BUCKET_SECONDS)
      const before = pending.get(name)
      if (before && before.minute === minute) {
        before.requests += 1
        before.remaining = remaining
        return
      }
      const usage = { minute, subject, site, remaining }
      pending.set(name, { ...usage, requests: 0 })
      await write({ ...usage, requests: (before?.requests ?? 0) + 1 })
    },

    async flush(): Promise<void> {
      const unwritten = [...pending.values()].filter(({ requests }) => requests > 0)
      pending.clear()
      for (const usage of unwritten) await write(usage)
    },
  }
}
