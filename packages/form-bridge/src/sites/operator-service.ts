/** What operators see of sites: the list with its filters, counts, details, and the history of one. */
import type { AuditLog } from '@strongroom/kit/audit-log'
import type { Page, PageRequest } from '@strongroom/kit/paging'
import type { Clock } from '@strongroom/platform/clock'
import type { AgencyStore } from '../agencies/store.ts'
import type { MembershipStore } from '../agencies/membership.ts'
import type { RegistrationStore } from '../registrations/store.ts'
import type { SecurityEventStore } from '../security/event-store.ts'
import type { UpdateCheckStore } from '../updates/store.ts'
import type { SiteFilter, SiteList } from './list.ts'
import type { SiteRow } from './rows.ts'
import type { SiteAdmin } from './service.ts'
import type { SiteStore } from './store.ts'
import type { HistoryEntry, OperatorSite, SiteCounts, SiteLine } from './operator-view.ts'

const DAY_MS = 86_400_000

/** Sites and registrations of each status that are counted. */
const MAX_COUNTED = 10_000
/** Sites that are read to count those that are unconfirmed or not seen. */
const MAX_READ_FOR_COUNTS = 2_000
/** Reads of the audit log, of 200 entries each. */
const MAX_AUDIT_READS = 10
/** Checks between which a site's version may have changed. */
const MAX_CHECKS = 200

export type OperatorSites = ReturnType<typeof createOperatorSites>

export function createOperatorSites(deps: {
  clock: Clock
  siteAdmin: Pick<SiteAdmin, 'get' | 'requireSite'>
  siteList: SiteList
  sites: Pick<SiteStore, 'count'>
  registrations: Pick<RegistrationStore, 'countPending'>
  memberships: Pick<MembershipStore, 'listAgencies'>
  agencies: Pick<AgencyStore, 'get'>
  securityEvents: Pick<SecurityEventStore, 'listBySubject'>
  updateChecks: Pick<UpdateCheckStore, 'history'>
  auditLog: Pick<AuditLog, 'list'>
}) {
  const { clock, siteAdmin, siteList, sites, registrations, memberships, agencies } = deps
  const { securityEvents, updateChecks, auditLog } = deps

  const daysAgo = (days: number) => new Date(clock.now() - days * DAY_MS).toISOString()

  /** One read for each site, and one for each agency among them. */
  async function findAgencies(site_ids: readonly string[]): Promise<Map<string, AgencyName>> {
    const found = await Promise.all(
      site_ids.map(
        async (site_id) => [site_id, (await memberships.listAgencies(site_id))[0]] as const,
      ),
    )
    const ids = new Set(found.flatMap(([, agency_id]) => (agency_id ? [agency_id] : [])))
    const names = new Map<string, AgencyName>()
    for (const agency of await Promise.all([...ids].map((id) => agencies.get(id)))) {
      if (!agency) continue
      const { agency_id, agency_name } = agency
      names.set(agency_id, { agency_id, agency_name })
    }
    const ofSites = new Map<string, AgencyName>()
    for (const [site_id, agency_id] of found) {
      const name = agency_id && names.get(agency_id)
      if (name) ofSites.set(site_id, name)
    }
    return ofSites
  }

  return {
    async list(
      {
        not_seen_days,
        ...filter
      }: Omit<SiteFilter, 'seenBefore'> & {
        not_seen_days?: number | undefined
      },
      page: PageRequest,
    ): Promise<Page<SiteLine>> {
      const seenBefore = not_seen_days === undefined ? undefined : daysAgo(not_seen_days)
      const { items, next } = await siteList.page({ ...filter, seenBefore }, page)
      const agencyOf = await findAgencies(items.map(({ site_id }) => site_id))
      return { items: items.map((row) => toSiteLine(row, agencyOf.get(row.site_id))), next }
    },

    async count(not_seen_days: number): Promise<SiteCounts> {
      const seenBefore = daysAgo(not_seen_days)
      let [unconfirmed, notSeen] = [0, 0]
      const [active, suspended, disabled, pending_registrations, examined] = await Promise.all([
        sites.count('active', MAX_COUNTED),
        sites.count('suspended', MAX_COUNTED),
        sites.count('disabled', MAX_COUNTED),
        registrations.countPending(MAX_COUNTED),
        siteList.examine(MAX_READ_FOR_COUNTS, ({ status, unconfirmed_since, last_seen }) => {
          if (unconfirmed_since !== undefined) unconfirmed += 1
          if (status === 'active' && last_seen < seenBefore) notSeen += 1
        }),
      ])
      const { isComplete: is_complete } = examined
      return {
        active,
        suspended,
        disabled,
        pending_registrations,
        unconfirmed: { count: unconfirmed, is_complete },
        not_seen: { count: notSeen, is_complete },
      }
    },

    async get(site_id: string): Promise<OperatorSite> {
      const [details, site, agencyOf] = await Promise.all([
        siteAdmin.get(site_id),
        siteAdmin.requireSite(site_id),
        findAgencies([site_id]),
      ])
      return {
        ...details,
        agency: agencyOf.get(site_id) ?? null,
        unconfirmed_since: site.unconfirmed_since ?? null,
        previous_valid_until: site.previous_valid_until ?? null,
        wp_version: site.telemetry?.['wp_version'] ?? null,
        php_version: site.telemetry?.['php_version'] ?? null,
      }
    },

    /** The newest entries of all kinds, newest first. */
    async history(
      site_id: string,
      limit: number,
    ): Promise<{ items: HistoryEntry[]; is_complete: boolean }> {
      const { created_at } = await siteAdmin.requireSite(site_id)
      const [changes, events, checks] = await Promise.all([
        auditLog.list({ target: site_id, from: created_at, limit, maxReads: MAX_AUDIT_READS }),
        securityEvents.listBySubject({ site_id }, { limit }),
        updateChecks.history(site_id, { limit: MAX_CHECKS }),
      ])
      const entries: HistoryEntry[] = [
        ...changes.items.map(({ at, actor, action, outcome, after }) => ({
          kind: 'change' as const,
          at,
          actor,
          action,
          outcome,
          reason: reasonIn(after) ?? null,
        })),
        ...events.items.map(({ timestamp, event_type, details }) => ({
          kind: 'security_event' as const,
          at: timestamp,
          event_type,
          details,
        })),
        ...versionChanges(checks.items, checks.next === undefined),
      ]
      const sorted = entries.toSorted((a, b) => (a.at < b.at ? 1 : -1))
      const isComplete = [changes, events, checks].every(({ next }) => next === undefined)
      return {
        items: sorted.slice(0, limit),
        is_complete: isComplete && sorted.length <= limit,
      }
    },
  }
}

type AgencyName = NonNullable<SiteLine['agency']>

function toSiteLine(row: SiteRow, agency: AgencyName | undefined): SiteLine {
  const { site_id, domain, status, created_at, last_seen, environment, installed_version } = row
  return {
    site_id,
    domain,
    status,
    created_at,
    last_seen,
    environment: environment ?? 'production',
    confirmation_needed: row.unconfirmed_since !== undefined,
    installed_version: installed_version ?? null,
    agency: agency ?? null,
  }
}

function reasonIn(after: unknown): string | undefined {
  if (typeof after !== 'object' || after === null || !('reason' in after)) return undefined
  return typeof after.reason === 'string' ? after.reason : undefined
}

/** Of the checks, newest first, those that found another version than the one before. */
function versionChanges(
  checks: readonly { current_version: string; checked_at: string }[],
  isComplete: boolean,
): HistoryEntry[] {
  return checks.flatMap(({ current_version, checked_at }, at) => {
    const before = checks[at + 1]
    if (before ? before.current_version === current_version : !isComplete) return []
    return [
      {
        kind: 'version' as const,
        at: checked_at,
        version: current_version,
        previous_version: before?.current_version ?? null,
      },
    ]
  })
}
