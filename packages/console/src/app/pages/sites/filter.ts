/** The filter of the list of sites: in the address, and as the API has it. */
import { NOT_SEEN_DAYS } from './status.ts'

export interface SiteFilter {
  status: string
  version: string | undefined
  agency: string | undefined
  /** Days, as `14d`. */
  seen: string | undefined
  text: string | undefined
}

const STATUSES = ['all', 'active', 'unconfirmed', 'suspended', 'disabled']

/** Unknown values are ignored. */
export function readFilter(query: URLSearchParams): SiteFilter {
  const status = query.get('status') ?? 'all'
  const seen = query.get('seen') ?? undefined
  return {
    status: STATUSES.includes(status) ? status : 'all',
    version: match(query.get('version'), /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$/),
    agency: match(query.get('agency'), /^agency_[A-Za-z0-9_-]{16}$/),
    seen: match(seen ?? null, /^[1-9]\d{0,2}d$/),
    text: query.get('q')?.slice(0, 200) || undefined,
  }
}

function match(value: string | null, pattern: RegExp): string | undefined {
  return value !== null && pattern.test(value) ? value : undefined
}

export function toApiQuery({ status, version, agency, seen, text }: SiteFilter) {
  return {
    status,
    version,
    agency_id: agency,
    not_seen_days: seen === undefined ? undefined : Number.parseInt(seen, 10),
    search: text,
  }
}

/** `version:2.4.0`, `agency:agency_…`, `seen:14d`; anything else is part of a domain. */
export function parseTyped(text: string): Record<string, string | undefined> {
  const [, name, value] = /^(version|agency|seen):(\S+)$/.exec(text.trim()) ?? []
  if (name === undefined) return { q: text.trim() || undefined }
  return { [name]: value, q: undefined }
}

export const TABS = [
  { status: 'all', label: 'All', count: undefined },
  { status: 'active', label: 'Active', count: 'active' },
  { status: 'unconfirmed', label: 'Unconfirmed', count: 'unconfirmed' },
  { status: 'not_seen', label: 'Not seen', count: 'not_seen' },
  { status: 'suspended', label: 'Suspended', count: 'suspended' },
  { status: 'disabled', label: 'Disabled', count: 'disabled' },
] as const

/** The parameters of the address that a tab sets. */
export function tabQuery(status: (typeof TABS)[number]['status']) {
  if (status === 'all') return { status: undefined, seen: undefined }
  if (status === 'not_seen') return { status: 'active', seen: `${NOT_SEEN_DAYS}d` }
  return { status, seen: undefined }
}

export function currentTab({ status, seen }: SiteFilter): (typeof TABS)[number]['status'] {
  if (status === 'active' && seen !== undefined) return 'not_seen'
  return TABS.find((tab) => tab.status === status)?.status ?? 'all'
}
