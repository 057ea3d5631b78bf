/** The status of a site as operators see it: what needs somebody comes before the stored status. */
import type { SiteLine } from '../../api/form-bridge.ts'

export const NOT_SEEN_DAYS = 14
const DAY_MS = 86_400_000

type Described = Pick<SiteLine, 'status' | 'confirmation_needed' | 'last_seen'>

export function statusOfSite(site: Described, now: number): string {
  if (site.status === 'disabled') return site.status
  if (site.confirmation_needed) return 'unconfirmed'
  if (site.status === 'suspended') return site.status
  const age = now - Date.parse(site.last_seen)
  return age > NOT_SEEN_DAYS * DAY_MS ? 'not_seen' : site.status
}
