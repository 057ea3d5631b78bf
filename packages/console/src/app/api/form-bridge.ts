/** Form-Bridge for operators. */
import type {
  AgencyLine,
  AgencySiteLine,
  JoinTokenLine,
} from '@strongroom/form-bridge/agencies/view'
import type {
  LimitState,
  RateOverrideLine,
  UsageByMinute,
} from '@strongroom/form-bridge/limits/view'
import type { OperatorRegistration } from '@strongroom/form-bridge/registrations/view'
import type { ReleaseLine } from '@strongroom/form-bridge/releases/view'
import type { AbuseLine, SecurityEventLine } from '@strongroom/form-bridge/security/view'
import type {
  HistoryEntry,
  OperatorSite,
  SiteCounts,
  SiteLine,
} from '@strongroom/form-bridge/sites/operator-view'
import type { ApiKeyLine } from '@strongroom/form-bridge/sites/view'
import type { AdoptionDays } from '@strongroom/form-bridge/updates/view'
import { request, type RequestOptions } from './request.ts'

export type {
  AbuseLine,
  AdoptionDays,
  AgencyLine,
  AgencySiteLine,
  ApiKeyLine,
  HistoryEntry,
  JoinTokenLine,
  LimitState,
  OperatorRegistration,
  OperatorSite,
  RateOverrideLine,
  ReleaseLine,
  SecurityEventLine,
  SiteCounts,
  SiteLine,
}

/** A page of a list. */
export interface Page<T> {
  items: T[]
  /** Where to continue; null at the end. */
  cursor: string | null
}

type Query = NonNullable<RequestOptions['query']>

/** The plugin whose releases Form-Bridge ships. */
export const PLUGIN = 'form-bridge'

export const FORM_BRIDGE_API = '/form-bridge/v1'

const get = <T>(path: string, query: Query = {}, signal?: AbortSignal) =>
  request<T>('GET', FORM_BRIDGE_API + path, { as: 'operator', query, ...(signal && { signal }) })

const change = <T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, json?: unknown) =>
  request<T>(method, FORM_BRIDGE_API + path, {
    as: 'operator',
    ...(json !== undefined && { json }),
  })

export type SiteAction = 'suspend' | 'resume' | 'confirm' | 'disable'

const part = encodeURIComponent

export const sites = {
  list: (query: Query, signal?: AbortSignal) => get<Page<SiteLine>>('/sites', query, signal),
  counts: (signal?: AbortSignal) => get<SiteCounts>('/site-counts', {}, signal),
  get: (id: string, signal?: AbortSignal) => get<OperatorSite>(`/sites/${part(id)}`, {}, signal),
  history: (id: string, signal?: AbortSignal) =>
    get<{ items: HistoryEntry[]; is_complete: boolean }>(`/sites/${part(id)}/history`, {}, signal),
  keys: (id: string, signal?: AbortSignal) =>
    get<{ items: ApiKeyLine[] }>(`/sites/${part(id)}/api-keys`, {}, signal),
  act: (id: string, action: SiteAction, reason: string) =>
    change('POST', `/sites/${part(id)}/${action}`, reason === '' ? {} : { reason }),
  setDestination: (id: string, destination: { url: string; secret?: string }) =>
    change('PUT', `/sites/${part(id)}/destination`, destination),
  removeDestination: (id: string) => change('DELETE', `/sites/${part(id)}/destination`),
}

export const registrations = {
  list: (query: Query, signal?: AbortSignal) =>
    get<Page<OperatorRegistration>>('/registrations', query, signal),
}

export const agencies = {
  list: (query: Query, signal?: AbortSignal) => get<Page<AgencyLine>>('/agencies', query, signal),
  get: (id: string, signal?: AbortSignal) => get<AgencyLine>(`/agencies/${part(id)}`, {}, signal),
  sites: (id: string, query: Query, signal?: AbortSignal) =>
    get<Page<AgencySiteLine>>(`/agencies/${part(id)}/sites`, query, signal),
  tokens: (id: string, query: Query, signal?: AbortSignal) =>
    get<Page<JoinTokenLine>>(`/agencies/${part(id)}/join-tokens`, query, signal),
  create: (agency: { agency_name: string; contact_email: string; max_sites: number }) =>
    change<AgencyLine & { api_key: string }>('POST', '/agencies', agency),
  update: (id: string, changes: { max_sites?: number; status?: AgencyLine['status'] }) =>
    change<AgencyLine>('PATCH', `/agencies/${part(id)}`, changes),
  rotateKey: (id: string) => change<{ api_key: string }>('POST', `/agencies/${part(id)}/key`),
  createToken: (id: string, token: { role: string; max_uses: number; expires_in: number }) =>
    change<JoinTokenLine & { token: string }>('POST', `/agencies/${part(id)}/join-tokens`, token),
  revokeToken: (id: string, token: string) =>
    change('DELETE', `/agencies/${part(id)}/join-tokens/${part(token)}`),
  setRole: (id: string, site: string, role: AgencySiteLine['role']) =>
    change('PUT', `/agencies/${part(id)}/sites/${part(site)}/role`, { role }),
}

export const releases = {
  list: (signal?: AbortSignal) =>
    get<{ items: ReleaseLine[] }>(`/plugins/${PLUGIN}/versions`, {}, signal),
  withdraw: (version: string) => change('POST', `/plugins/${PLUGIN}/${part(version)}/withdraw`),
  adoption: (days: number, signal?: AbortSignal) =>
    get<AdoptionDays>('/adoption/days', { days }, signal),
}

export const security = {
  events: (query: Query, signal?: AbortSignal) =>
    get<Page<SecurityEventLine>>('/security-events', query, signal),
  patterns: (query: Query, signal?: AbortSignal) =>
    get<Page<AbuseLine>>('/abuse-patterns', query, signal),
  clear: ({ pattern_type, identifier }: Pick<AbuseLine, 'pattern_type' | 'identifier'>) =>
    change('DELETE', `/abuse-patterns/${pattern_type}/${part(identifier)}`),
}

export const limits = {
  list: (query: Query, signal?: AbortSignal) =>
    get<Page<RateOverrideLine>>('/rate-limits', query, signal),
  state: (scope: string, id: string, signal?: AbortSignal) =>
    get<LimitState>(`/rate-limits/${part(scope)}/${part(id)}`, {}, signal),
  usage: (scope: string, id: string, from: string, signal?: AbortSignal) =>
    get<UsageByMinute>(`/rate-limits/${part(scope)}/${part(id)}/usage`, { from }, signal),
  set: (scope: string, id: string, values: Record<string, number>) =>
    change('PUT', `/rate-limits/${part(scope)}/${part(id)}`, { limits: values }),
  remove: (scope: string, id: string) =>
    change('DELETE', `/rate-limits/${part(scope)}/${part(id)}`),
}
