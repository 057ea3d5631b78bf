/**
 * Request counts of sites and client addresses, for people to read. They are collected in memory and
 * written by the minute, because the limits do not depend on them.
 */
import type { Log } from '@strongroom/kit/log'
import type { Clock } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import type { AuthenticationStore } from '../authentication/store.ts'
import type { Site } from '../sites/item.ts'
import type { SiteStore } from '../sites/store.ts'
import { BUCKET_SECONDS, type RateAction, ratePartition, type RateSubject } from './item.ts'
import type { RateStore } from './store.ts'

/** Addresses with unwritten counts. Those of further addresses are lost until the next write. */
export const MAX_ADDRESSES = 10_000

const INTERVAL_MS = 1000 * BUCKET_SECONDS

type CountedSite = Pick<Site, 'site_id' | 'domain' | 'api_key_hash'>

interface PendingUsage {
  /** The minute since the epoch in which the requests were made. */
  minute: number
  subject: RateSubject
  requests: number
  /** Of a site. */
  site?: { name: CountedSite; remaining: number }
}

export type Usage = ReturnType<typeof createUsage>

export function createUsage(deps: {
  clock: Clock
  log: Log
  startTimer: StartTimer
  rates: Pick<RateStore, 'count'>
  sites: Pick<SiteStore, 'recordRequests'>
  authentication: Pick<AuthenticationStore, 'recordApiKeyUse'>
}) {
  const { clock, log, startTimer, rates, sites, authentication } = deps
  const pendingSites = new Map<string, PendingUsage>()
  const pendingAddresses = new Map<string, PendingUsage>()
  let lost = 0
  let isClosed = false
  let running: Promise<void> | undefined
  let stopTimer = startTimer(INTERVAL_MS, tick)

  const currentMinute = () => Math.floor(clock.now() / 1000 / BUCKET_SECONDS)

  async function write({ minute, subject, site }: PendingUsage, requests: number): Promise<void> {
    await rates.count(subject, BUCKET_SECONDS, requests, minute * BUCKET_SECONDS)
    // The function that answers update checks has no permission to write credentials, see `iam.ts`.
    if (!site || subject.scope === 'update_check') return
    await sites.recordRequests(site.name, { requests, remaining: site.remaining })
    await authentication.recordApiKeyUse(site.name.api_key_hash)
  }

  async function flush(pending: Map<string, PendingUsage>, before: number): Promise<void> {
    for (const [name, usage] of pending) {
      if (usage.minute >= before) continue
      pending.delete(name)
      if (usage.requests === 0) continue
      try {
        await write(usage, usage.requests)
      } catch (error) {
        // At the end, so one that can never be written does not hold up the others.
        if (!pending.has(name)) pending.set(name, usage)
        log.warn('request counts not written, retrying in a minute', { error })
        return
      }
    }
  }

  async function writePassedMinutes(): Promise<void> {
    if (lost > 0) log.warn('request counts lost, too many addresses', { requests: lost })
    lost = 0
    await flush(pendingSites, currentMinute())
    await flush(pendingAddresses, currentMinute())
    if (!isClosed) stopTimer = startTimer(INTERVAL_MS, tick)
  }

  async function flushAll(): Promise<void> {
    await flush(pendingSites, Infinity)
    await flush(pendingAddresses, Infinity)
  }

  function tick(): void {
    running = writePassedMinutes()
  }

  return {
    /** Writes the first request of a site in a minute immediately, and its others later. */
    async record(
      scope: 'api' | 'webhook' | 'update_check',
      site: CountedSite,
      remaining: number,
    ): Promise<void> {
      const subject = { scope, site_id: site.site_id } as const
      const name = ratePartition(subject)
      const minute = currentMinute()
      const before = pendingSites.get(name)
      if (before?.site && before.minute === minute) {
        before.requests += 1
        before.site.remaining = remaining
        return
      }
      const usage = { minute, subject, site: { name: site, remaining }, requests: 0 }
      pendingSites.set(name, usage)
      // Only where timers do not run between requests.
      if (before && before.requests > 0) await write(before, before.requests)
      await write(usage, 1)
    },

    /** Whatever the response is: what was refused belongs to the analysis too. */
    recordAddress(scope: RateAction, { client_ip }: { client_ip: string }): void {
      const subject = { scope, client_ip } as const
      const minute = currentMinute()
      const name = `${minute} ${ratePartition(subject)}`
      const usage = pendingAddresses.get(name)
      if (usage) usage.requests += 1
      else if (pendingAddresses.size < MAX_ADDRESSES)
        pendingAddresses.set(name, { minute, subject, requests: 1 })
      else lost += 1
    },

    flush: flushAll,

    /** Writes everything. */
    async close(): Promise<void> {
      isClosed = true
      stopTimer()
      await running
      await flushAll()
    },
  }
}
