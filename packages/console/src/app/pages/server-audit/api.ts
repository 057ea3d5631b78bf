/** The audit log of operators over HTTP. */
import type { AuditEntryView } from '@strongroom/server/audit/view'
import { request } from '../../api/request.ts'

export type AuditEntry = AuditEntryView

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

const MAX_EXPORTED = 10_000
const PAGE_SIZE = 100

export function listAudit(
  filter: AuditFilter,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<AuditPage> {
  return request('GET', '/server/v1/audit', {
    as: 'operator',
    query: { ...filter, cursor, limit: PAGE_SIZE },
    ...(signal && { signal }),
  })
}

/** All entries that match, newest first, up to a limit. */
export async function exportAudit(filter: AuditFilter): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  let cursor: string | undefined
  do {
    const page = await listAudit(filter, cursor)
    entries.push(...page.items)
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined && entries.length < MAX_EXPORTED)
  return entries
}

interface MonthCheck {
  month: string
  entries: number
  last: string | null
  findings: { seq: number; message: string }[]
}

export interface Verification {
  entries: number
  findings: { month: string; seq: number; message: string }[]
  /** The last hash of each month, to compare with those that were stored elsewhere. */
  lastHashes: { month: string; hash: string }[]
}

/** Verifies the whole log, page by page. */
export async function verifyAudit(onProgress: (entries: number) => void): Promise<Verification> {
  const found: Verification = { entries: 0, findings: [], lastHashes: [] }
  const hashes = new Map<string, string>()
  let cursor: string | undefined
  do {
    const page: { items: MonthCheck[]; cursor: string | null } = await request(
      'GET',
      '/server/v1/audit/verification',
      { as: 'operator', query: { cursor } },
    )
    for (const { month, entries, last, findings } of page.items) {
      found.entries += entries
      found.findings.push(...findings.map((finding) => ({ month, ...finding })))
      if (last !== null) hashes.set(month, last)
    }
    onProgress(found.entries)
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  found.lastHashes = Array.from(hashes, ([month, hash]) => ({ month, hash }))
  return found
}
