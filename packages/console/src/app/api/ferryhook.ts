/** Sources and connections of Ferryhook, with the types of its responses. */
import type { z } from 'zod'
import type { ConnectionDeliveryView } from '@strongroom/ferryhook/connections/account-routes'
import type { ConnectionSummaryView, ConnectionView } from '@strongroom/ferryhook/connections/view'
import type { EventDetailView, EventView } from '@strongroom/ferryhook/events/view'
import type { SourceActivityView } from '@strongroom/ferryhook/sources/activity'
import type { SourceView } from '@strongroom/ferryhook/sources/view'
import { request } from './request.ts'

export type Source = z.infer<typeof SourceView>
export type ListedSource = Source & { activity?: SourceActivityView }
export type Connection = z.infer<typeof ConnectionView>
export type ConnectionSummary = z.infer<typeof ConnectionSummaryView>
export type ConnectionDelivery = z.infer<typeof ConnectionDeliveryView>
export type EventItem = z.infer<typeof EventView>
export type EventDetail = z.infer<typeof EventDetailView>

export interface Page<T> {
  items: T[]
  cursor: string | null
}

export const V1 = '/ferryhook/v1'

/** Items of a listing, page by page, up to about a number. */
export async function fetchItems<T>(
  path: string,
  {
    max,
    query = {},
    as = 'user',
    abort,
  }: {
    max: number
    query?: Record<string, string | number | undefined>
    as?: 'user' | 'operator'
    abort: AbortSignal
  },
): Promise<{ items: T[]; hasMore: boolean }> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const page: Page<T> = await request('GET', `${V1}${path}`, {
      as,
      query: { limit: Math.min(100, max), ...query, cursor: cursor ?? undefined },
      signal: abort,
    })
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null && items.length < max)
  return { items, hasMore: cursor !== null }
}

/** The latest events of a source, newest first. */
export async function latestEvents(
  sourceId: string,
  limit: number,
  abort: AbortSignal,
): Promise<EventItem[]> {
  const path = `${V1}/sources/${sourceId}/events`
  return (await request<Page<EventItem>>('GET', path, { query: { limit }, signal: abort })).items
}

/** `failing`: active, with failed attempts since the last success. */
export function connectionHealth(connection: Pick<Connection, 'status' | 'failingSince'>): string {
  if (connection.status !== 'active') return connection.status
  return connection.failingSince === null ? 'active' : 'failing'
}

/** The host of a destination, or the built-in test destination. */
export function destinationName(url: string): string {
  return URL.canParse(url) && !url.startsWith('test:') ? new URL(url).host : url
}
