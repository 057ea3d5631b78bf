/** Access to sites, on the configured store or through a server. */
import type { SiteDetails } from '@strongroom/form-bridge/sites/view'
import type { SiteStatus } from '@strongroom/form-bridge/sites/item'
import { systemClock } from '@strongroom/platform/clock'
import { serverTable } from '@strongroom/kit/server-table'
import { services } from '@strongroom/server/services'
import { requireTables, tablesOf } from '@strongroom/server/tables'
import type { CommandInput } from '../command.ts'
import { createOperatorClientIfRequested, type ApiClient } from '../api-client.ts'
import { withStore } from '../store.ts'
import { siteAdminOn } from './store.ts'

export type SiteAction = 'suspend' | 'resume' | 'disable' | 'confirm'
export type SiteLine = Pick<SiteDetails, 'site_id' | 'domain' | 'status' | 'created_at'>

export interface SiteAccess {
  pages(status: SiteStatus, search: string | undefined): AsyncIterable<SiteLine[]>
  show(site_id: string): Promise<SiteDetails>
  act(site_id: string, action: SiteAction): Promise<SiteDetails>
}

const PAGE = 100

export async function withSites<T>(
  input: CommandInput,
  work: (sites: SiteAccess) => Promise<T>,
): Promise<T> {
  const api = createOperatorClientIfRequested(input, 'form-bridge')
  return api ? work(remoteSites(api)) : withLocalSites(input, work)
}

/** Only the tables of this service, because the others may not exist yet. */
export function formBridgeTables() {
  const own = services.filter(({ name }) => name === 'form-bridge')
  return [serverTable, ...tablesOf(own)]
}

async function withLocalSites<T>(
  input: CommandInput,
  work: (sites: SiteAccess) => Promise<T>,
): Promise<T> {
  return withStore(input, async (store) => {
    await requireTables(store, formBridgeTables())
    const admin = siteAdminOn({ db: store.db, clock: systemClock })
    return work({
      async *pages(status, search) {
        let after: Awaited<ReturnType<typeof admin.list>>['next']
        do {
          const page = await admin.list(status, { limit: PAGE, after, ...(search && { search }) })
          yield page.items.map(({ site_id, domain, status: its, created_at }) => ({
            site_id,
            domain,
            status: its,
            created_at,
          }))
          after = page.next
        } while (after)
      },
      show: admin.get,
      act: (site_id, action) => admin[action](site_id),
    })
  })
}

function remoteSites(api: ApiClient): SiteAccess {
  const pathOf = (site_id: string) => `/sites/${encodeURIComponent(site_id)}`
  return {
    async *pages(status, search) {
      let cursor: string | null = null
      do {
        const query = new URLSearchParams({ status, limit: String(PAGE) })
        if (search !== undefined) query.set('search', search)
        if (cursor !== null) query.set('cursor', cursor)
        const page: { items: SiteLine[]; cursor: string | null } = await api(
          'GET',
          `/sites?${query.toString()}`,
        )
        yield page.items
        cursor = page.cursor
      } while (cursor !== null)
    },
    show: (site_id) => api('GET', pathOf(site_id)),
    act: (site_id, action) => api('POST', `${pathOf(site_id)}/${action}`),
  }
}
