/**
 * The list of sites for operators: with version, agency and when each was last seen.
 *
 * These change with every request, so they are not in the index of the list. Each page reads them
 * from the table for the sites that it examines, of which there are at most `MAX_EXAMINED`: a page of
 * a rare filter may be short, or empty, and still have a cursor.
 */
import type { Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import { AgencySiteItem } from '../agencies/item.ts'
import { DEFAULT_PAGE_SIZE, formBridgeTable, type StoreDeps } from '../tables.ts'
import { SiteVersionItem } from '../updates/item.ts'
import { createSiteRows, type SiteRow } from './rows.ts'
import { type SiteName, SiteStatus } from './item.ts'
import { createSiteStore } from './store.ts'

/** Sites that one page examines. */
export const MAX_EXAMINED = 1_000
/** Sites that one read examines; a batch of reads has at most 100 keys. */
const READ_SIZE = 100

export interface SiteFilter {
  /** `unconfirmed`: not disabled, and reconnected without its old key. */
  status: SiteStatus | 'all' | 'unconfirmed'
  /** Part of a domain, or a site id. */
  search?: string | undefined
  version?: string | undefined
  agency_id?: string | undefined
  /** Last seen before this time. */
  seenBefore?: string | undefined
}

/** A site that an index names, and where the list continues after it. */
interface Candidate extends SiteName {
  position: Item
}

interface CandidatePage {
  candidates: Candidate[]
  isLast: boolean
}

type ReadCandidates = (after: Item | undefined) => Promise<CandidatePage>

export type SiteList = ReturnType<typeof createSiteList>

export function createSiteList(deps: StoreDeps) {
  const { db } = deps
  const sites = createSiteStore(deps)
  const siteVersions = entity(db, formBridgeTable, SiteVersionItem)
  const agencySites = entity(db, formBridgeTable, AgencySiteItem)
  const rows = createSiteRows(deps)

  /** Newest first, of several statuses: sort keys are unique, so each continues after the same one. */
  function byStatus(statuses: readonly SiteStatus[]): ReadCandidates {
    return async (after) => {
      const before = after?.['GSI2SK']
      const page = { limit: READ_SIZE, ...(typeof before === 'string' && { before }) }
      const pages = await Promise.all(statuses.map((status) => sites.list(status, page)))
      const found = pages
        .flatMap(({ items }) => items)
        .toSorted((a, b) => (a.GSI2SK < b.GSI2SK ? 1 : -1))
      return {
        candidates: found
          .slice(0, READ_SIZE)
          .map(({ site_id, domain, GSI2SK }) => ({ site_id, domain, position: { GSI2SK } })),
        isLast: found.length <= READ_SIZE && pages.every(({ next }) => next === undefined),
      }
    }
  }

  function byVersion(version: string): ReadCandidates {
    const { attr } = siteVersions
    return async (after) => {
      const { items, next } = await siteVersions.query({
        index: 'GSI1',
        key: expr`${attr('GSI1PK')} = ${`UPDATES#${version}`}`,
        limit: READ_SIZE,
        after,
      })
      // A site may have moved after its last check.
      const domains = await rows.locate(items.map(({ site_id }) => site_id))
      return {
        candidates: items.map(({ site_id, domain, PK, SK, GSI1PK, GSI1SK }) => ({
          site_id,
          domain: domains.get(site_id) ?? domain,
          position: { PK, SK, GSI1PK, GSI1SK },
        })),
        isLast: next === undefined,
      }
    }
  }

  function byAgency(agency_id: string): ReadCandidates {
    const { attr } = agencySites
    return async (after) => {
      const { items, next } = await agencySites.query({
        key: expr`${attr('PK')} = ${`AGENCY#${agency_id}`} AND begins_with(${attr('SK')}, ${'SITE#'})`,
        limit: READ_SIZE,
        after,
      })
      return {
        candidates: items.map(({ site_id, domain, PK, SK }) => ({
          site_id,
          domain,
          position: { PK, SK },
        })),
        isLast: next === undefined,
      }
    }
  }

  function candidatesOf({ agency_id, version, status }: SiteFilter): ReadCandidates {
    if (agency_id !== undefined) return byAgency(agency_id)
    if (version !== undefined) return byVersion(version)
    return byStatus(statusesOf(status))
  }

  async function matching(candidates: readonly Candidate[], filter: SiteFilter) {
    const named = candidates.filter(({ domain, site_id }) => {
      const { search } = filter
      return search === undefined || domain.includes(search) || site_id === search
    })
    const found = await rows.read(named)
    return new Map(
      found.filter((row) => matches(row, filter)).map((row) => [row.site_id, row] as const),
    )
  }

  return {
    async page(
      filter: SiteFilter,
      { limit = DEFAULT_PAGE_SIZE, after }: PageRequest,
    ): Promise<Page<SiteRow>> {
      const read = candidatesOf(filter)
      const found: SiteRow[] = []
      let position = after
      for (let examined = 0; examined < MAX_EXAMINED; examined += READ_SIZE) {
        const { candidates, isLast } = await read(position)
        const matched = await matching(candidates, filter)
        for (const candidate of candidates) {
          if (found.length === limit) return { items: found, next: position }
          const row = matched.get(candidate.site_id)
          if (row) found.push(row)
          // A site that moves may be listed at both of its domains for a moment.
          matched.delete(candidate.site_id)
          position = candidate.position
        }
        if (isLast) return { items: found, next: undefined }
      }
      return { items: found, next: position }
    },

    /** Everything that operators filter by, of up to `max` sites that are not disabled. */
    async examine(max: number, visit: (row: SiteRow) => void): Promise<{ isComplete: boolean }> {
      const read = byStatus(['active', 'suspended'])
      let position: Item | undefined
      for (let examined = 0; examined < max; examined += READ_SIZE) {
        const { candidates, isLast } = await read(position)
        for (const row of await rows.read(candidates)) visit(row)
        if (isLast) return { isComplete: true }
        position = candidates.at(-1)?.position
      }
      return { isComplete: false }
    },
  }
}

function statusesOf(status: SiteFilter['status']): readonly SiteStatus[] {
  if (status === 'all') return SiteStatus.options
  return status === 'unconfirmed' ? ['active', 'suspended'] : [status]
}

/** The index may lag, so the status is compared with the table. */
function matches(row: SiteRow, { status, version, seenBefore }: SiteFilter): boolean {
  if (!statusesOf(status).includes(row.status)) return false
  if (status === 'unconfirmed' && row.unconfirmed_since === undefined) return false
  if (version !== undefined && row.installed_version !== version) return false
  return seenBefore === undefined || row.last_seen < seenBefore
}
