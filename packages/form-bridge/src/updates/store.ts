/** Update checks: the history of a site, its installed version, and the adoption of versions. */
import { epochSeconds } from '@strongroom/platform/clock'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { transactParts } from '@strongroom/kit/transact'
import { DEFAULT_PAGE_SIZE, formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import {
  createTimeKeys,
  expiresIn,
  type IsoRange,
  oldestUnexpired,
  timeBounds,
  unexpired,
} from '../time.ts'
import {
  AdoptionItem,
  adoptionKey,
  type SiteVersion,
  SiteVersionItem,
  siteVersionKey,
  type UpdateCheck,
  UpdateCheckItem,
  updateCheckPartition,
} from './item.ts'

export type NewUpdateCheck = Pick<
  UpdateCheck,
  'site_id' | 'domain' | 'current_version' | 'latest_version' | 'update_available'
>

export interface Adoption {
  versions: Record<string, number>
  /** False if sites report more versions than were read. */
  is_complete: boolean
}

export type UpdateCheckStore = ReturnType<typeof createUpdateCheckStore>

export function createUpdateCheckStore({ db, clock }: StoreDeps) {
  const checks = entity(db, formBridgeTable, UpdateCheckItem)
  const siteVersions = entity(db, formBridgeTable, SiteVersionItem)
  const adoption = entity(db, formBridgeTable, AdoptionItem)
  const nextTimeKey = createTimeKeys(clock)

  /** Up to `max` versions of a day. */
  async function getAdoptionPage(date: string, max?: number): Promise<Adoption> {
    const { items, next } = await adoption.query({
      key: expr`${adoption.attr('PK')} = ${`ADOPTION#${date}`}`,
      ...(max !== undefined && { limit: max }),
    })
    return {
      versions: Object.fromEntries(items.map(({ SK, n }) => [SK.slice('VERSION#'.length), n])),
      is_complete: next === undefined,
    }
  }

  return {
    /** Only the first check of a site on a day counts in the totals of the day. */
    async record(check: NewUpdateCheck): Promise<void> {
      const { iso, unique } = nextTimeKey()
      const today = iso.slice(0, 10)
      const fields = {
        ...check,
        checked_at: iso,
        ttl: expiresIn(clock, TTL_SECONDS.updateCheck).ttl,
      }
      const current: SiteVersion = {
        ...fields,
        ...siteVersionKey(check.site_id),
        GSI1PK: `UPDATES#${check.current_version}`,
        GSI1SK: `SITE#${check.site_id}`,
        counted_on: today,
      }
      const history = checks.part.put({
        ...fields,
        PK: updateCheckPartition(check.site_id),
        SK: `TIME#${unique}`,
      })
      const { attr } = siteVersions
      const firstOfDay = await transactParts(db, {
        history,
        current: siteVersions.part.put(
          current,
          expr`attribute_not_exists(${attr('PK')}) OR ${attr('counted_on')} < ${today}`,
        ),
        total: adoption.part.update(
          adoptionKey(today, check.current_version),
          expr`ADD ${adoption.attr('n')} ${1}`,
        ),
      })
      if (firstOfDay.kind === 'done') return
      const laterOfDay = await transactParts(db, {
        history,
        current: siteVersions.part.put(
          current,
          expr`${attr('counted_on')} = ${today} AND ${attr('checked_at')} <= ${iso}`,
        ),
      })
      // A concurrent later check has already updated the version.
      if (laterOfDay.kind === 'refused') await transactParts(db, { history })
    },

    /** Newest first. */
    history(
      site_id: string,
      { limit = DEFAULT_PAGE_SIZE, after, ...range }: PageRequest & IsoRange = {},
    ): Promise<Page<UpdateCheck>> {
      const { attr } = checks
      const [from, to] = timeBounds(oldestUnexpired(clock, TTL_SECONDS.updateCheck), range)
      if (from > to) return Promise.resolve({ items: [], next: undefined })
      return checks.query({
        key: expr`${attr('PK')} = ${updateCheckPartition(site_id)} AND ${attr('SK')} BETWEEN ${from} AND ${to}`,
        newestFirst: true,
        limit,
        after,
      })
    },

    current(site_id: string): Promise<SiteVersion | undefined> {
      return siteVersions.get(siteVersionKey(site_id)).then(unexpired(clock))
    },

    /** The sites that have the version installed. Reads GSI1: eventually consistent. */
    listSitesByVersion(
      version: string,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest = {},
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

    getAdoptionPage,

    /** The number of sites by version on a day, such as `2026-11-01`. */
    async getAdoption(date: string): Promise<Adoption['versions']> {
      return (await getAdoptionPage(date)).versions
    },
  }
}
