import type { ApiKeyView } from '@strongroom/ferryhook/accounts/api-keys/routes'
import type { AuditView } from '@strongroom/ferryhook/accounts/audit/routes'
import type { ConnectionSummaryView } from '@strongroom/ferryhook/connections/view'
import type { SourceView } from '@strongroom/ferryhook/sources/view'
import type { z } from 'zod'
import { request } from '../../api/request.ts'

export type AuditEntry = z.infer<typeof AuditView>

export interface AuditFilter {
  actor: string | undefined
  action: string | undefined
  target: string | undefined
  from: string | undefined
}

export interface AuditPage {
  items: AuditEntry[]
  cursor: string | null
}

export function listAudit(
  filter: AuditFilter,
  { cursor, limit = 50 }: { cursor?: string | undefined; limit?: number },
  signal?: AbortSignal,
): Promise<AuditPage> {
  return request('GET', '/ferryhook/v1/audit', {
    query: { ...filter, limit, cursor },
    ...(signal && { signal }),
  })
}

const MAX_EXPORTED = 10_000

/** All entries that match, newest first, up to a limit. */
export async function exportAudit(filter: AuditFilter): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  let cursor: string | undefined
  do {
    const page = await listAudit(filter, { cursor, limit: 100 })
    entries.push(...page.items)
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined && entries.length < MAX_EXPORTED)
  return entries
}

/** Names by id, of what still exists. */
export async function loadNames(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const [sources, connections, keys] = await Promise.all([
    request<{ items: z.infer<typeof SourceView>[] }>('GET', '/ferryhook/v1/sources', { signal }),
    request<{ items: z.infer<typeof ConnectionSummaryView>[] }>(
      'GET',
      '/ferryhook/v1/connections',
      {
        query: { limit: 100 },
        signal,
      },
    ),
    request<{ items: z.infer<typeof ApiKeyView>[] }>('GET', '/ferryhook/v1/api-keys', { signal }),
  ])
  return new Map(
    [...sources.items, ...connections.items, ...keys.items].map(({ id, name }) => [id, name]),
  )
}
