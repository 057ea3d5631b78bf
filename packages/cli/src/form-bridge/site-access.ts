/** Access to sites through a server. */
import type { SiteDetails } from '@strongroom/form-bridge/sites/view'
import type { SiteStatus } from '@strongroom/form-bridge/sites/item'
import type { CommandInput } from '../command.ts'
import { createServiceClient } from '../api-client.ts'

export type SiteAction = 'suspend' | 'resume' | 'disable' | 'confirm'
export type SiteLine = Pick<SiteDetails, 'site_id' | 'domain' | 'status' | 'created_at'>

export interface SiteAccess {
  pages(status: SiteStatus, search: string | undefined): AsyncIterable<SiteLine[]>
  show(site_id: string): Promise<SiteDetails>
  act(site_id: string, action: SiteAction): Promise<SiteDetails>
}

const PAGE = 100

export function createSiteAccess(input: CommandInput): SiteAccess {
  const api = createServiceClient(input, 'form-bridge')
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
