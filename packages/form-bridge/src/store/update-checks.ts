/** Update checks: the history of each site, what it runs now, and how many run what. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page } from '@strongroom/kit/query-page'
import { epochSeconds } from '@strongroom/kit/clock'
import { earliestLive, endingAfter, ifLive } from '../expiry.ts'
import {
  AdoptionItem,
  adoptionKey,
  type SiteVersion,
  SiteVersionItem,
  siteVersionKey,
  type UpdateCheck,
  UpdateCheckItem,
  updateCheckPartition,
} from '../items/update-check.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import { type IsoRange, createMoments, timeBounds } from '../time-key.ts'
import { DEFAULT_LIMIT, type PageRequest, type StoreDeps } from './deps.ts'
import { settle } from './settle.ts'

export type NewUpdateCheck = Pick<
  UpdateCheck,
  'site_id' | 'domain' | 'current_version' | 'latest_version' | 'update_available'
>

export function createUpdateChecks({ db, clock }: StoreDeps) {
  const checks = entity(db, formBridgeTable, UpdateCheckItem)
  const siteVersions = entity(db, formBridgeTable, SiteVersionItem)
  const nextMoment = createMoments(clock)
  const adoption = entity(db, formBridgeTable, AdoptionItem)

  return {
    /** The first check of a site on a day counts in that day's totals, further ones do not. */
    async record(check: NewUpdateCheck): Promise<void> {
      const { iso, unique } = nextMoment()
      const today = iso.slice(0, 10)
      const seen = {
        ...check,
        checked_at: iso,
        ttl: endingAfter(clock, lifetimes.updateCheck).ttl,
      }
      const current: SiteVersion = {
        ...seen,
        ...siteVersionKey(check.site_id),
        GSI1PK: `UPDATES#${check.current_version}`,
        GSI1SK: `SITE#${check.site_id}`,
        counted_on: today,
      }
      const history = checks.part.put({
        ...seen,
        PK: updateCheckPartition(check.site_id),
        SK: `TIME#${unique}`,
      })
      const { attr } = siteVersions
      const total = adoption.attr('n')
      const firstToday = await settle(db, {
        history,
        current: siteVersions.part.put(
          current,
          expr`attribute_not_exists(${attr('PK')}) OR ${attr('counted_on')} < ${today}`,
        ),
        total: adoption.part.update(
          adoptionKey(today, check.current_version),
          expr`ADD ${total} ${1}`,
        ),
      })
      if (!firstToday) return
      const again = await settle(db, {
        history,
        current: siteVersions.part.put(
          current,
          expr`${attr('counted_on')} = ${today} AND ${attr('checked_at')} <= ${iso}`,
        ),
      })
      // A check that was overtaken by a later one is history only.
      if (again) await settle(db, { history })
    },

    /** Newest first. */
    history(
      site_id: string,
      { limit = DEFAULT_LIMIT, after, ...range }: PageRequest & IsoRange = {},
    ): Promise<Page<UpdateCheck>> {
      const { attr } = checks
      const [from, to] = timeBounds(earliestLive(clock, lifetimes.updateCheck), range)
      if (from > to) return Promise.resolve({ items: [], next: undefined })
      return checks.query({
        key: expr`${attr('PK')} = ${updateCheckPartition(site_id)} AND ${attr('SK')} BETWEEN ${from} AND ${to}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    /** What a site runs. */
    current(site_id: string): Promise<SiteVersion | undefined> {
      return siteVersions.get(siteVersionKey(site_id)).then(ifLive(clock))
    },

    /** The sites that have a version installed; each once. By the index, so a moment behind. */
    sitesOn(
      version: string,
      { limit = DEFAULT_LIMIT, after }: PageRequest = {},
    ): Promise<Page<SiteVersion>> {
      const { attr } = siteVersions
      return siteVersions.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`UPDATES#${version}`}`,
        filter: expr`${attr('ttl')} > ${epochSeconds(clock)}`,
        limit,
        after,
      })
    },

    /** How many sites had each version on a day, such as `2026-11-01`. */
    async adoptionOn(date: string): Promise<Record<string, number>> {
      const { items } = await adoption.query({
        key: expr`${adoption.attr('PK')} = ${`ADOPTION#${date}`}`,
      })
      return Object.fromEntries(items.map(({ SK, n }) => [SK.slice('VERSION#'.length), n]))
    },
  }
}
