/**
 * What sites use, for people to look at: when a site was last seen, how often it asks. Gathered in
 * memory and written once a minute for each site, because the limits do not depend on it.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { RateSubject } from '../items/rate.ts'
import { ratePartition } from '../items/rate.ts'
import type { Site } from '../items/site.ts'
import type { createRates } from '../store/rates.ts'
import type { createAuthentication } from '../store/authentication.ts'
import type { createSites } from '../store/sites.ts'

const BUCKET_SECONDS = 60

interface Gathered {
  since: number
  subject: RateSubject & { site_id: string }
  site: Pick<Site, 'site_id' | 'domain' | 'api_key_hash'>
  requests: number
  remaining: number
}

export type Usage = ReturnType<typeof createUsage>

export function createUsage(deps: {
  clock: Clock
  rates: Pick<ReturnType<typeof createRates>, 'count'>
  sites: Pick<ReturnType<typeof createSites>, 'touch'>
  authentication: Pick<ReturnType<typeof createAuthentication>, 'touchApiKey'>
}) {
  const { clock, rates, sites, authentication } = deps
  const gathered = new Map<string, Gathered>()

  async function write({ subject, site, requests, remaining }: Gathered): Promise<void> {
    await rates.count(subject, BUCKET_SECONDS, requests)
    // Whatever answers update checks may not write to credentials.
    if (subject.scope === 'update_check') return
    await sites.touch(site, { requests, remaining })
    await authentication.touchApiKey(site.api_key_hash)
  }

  return {
    /** The first request of a site is written at once, those of the following minute together. */
    async note(
      scope: 'api' | 'webhook' | 'update_check',
      site: Pick<Site, 'site_id' | 'domain' | 'api_key_hash'>,
      remaining: number,
    ): Promise<void> {
      const subject = { scope, site_id: site.site_id } as const
      const name = ratePartition(subject)
      const minute = Math.floor(clock.now() / 1000 / BUCKET_SECONDS)
      const before = gathered.get(name)
      if (before && before.since === minute) {
        before.requests += 1
        before.remaining = remaining
        return
      }
      gathered.set(name, { since: minute, subject, site, requests: 0, remaining })
      await write({
        since: minute,
        subject,
        site,
        remaining,
        requests: (before?.requests ?? 0) + 1,
      })
    },

    async flush(): Promise<void> {
      const waiting = [...gathered.values()].filter(({ requests }) => requests > 0)
      gathered.clear()
      for (const each of waiting) await write(each)
    },
  }
}
