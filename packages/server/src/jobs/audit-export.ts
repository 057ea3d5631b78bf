/** The job that exports the audit log of operators as a file, newest entries first. */
import { extendZodWithOpenApi, z } from '@hono/zod-openapi'
import type { AuditEntry, AuditLog } from '@strongroom/kit/audit-log'
import type { Item } from '@strongroom/kit/db'
import type { JobKind } from '@strongroom/kit/jobs/kind'
import { toAuditEntryView } from '../audit/view.ts'

// Commands load this without routes, and a bundle then has no other reason to run it.
extendZodWithOpenApi(z)

const ENTRIES_PER_STEP = 500

const Time = z.iso.datetime({ offset: true })
const Text = z.string().min(1).max(256)

const AuditExportInput = z
  .strictObject({
    format: z.enum(['ndjson', 'csv']).default('ndjson'),
    actor: Text.optional(),
    action: Text.optional(),
    target: Text.optional(),
    from: Time.optional(),
    to: Time.optional().openapi({ description: 'Exclusive; the start of the job unless given' }),
  })
  .openapi('AuditExportInput')
type AuditExportInput = z.infer<typeof AuditExportInput>

interface AuditExportPosition {
  /** Strings only, because it is stored as JSON. */
  after: Item
  done: number
}

const COLUMNS = [
  'month',
  'seq',
  'at',
  'actor',
  'action',
  'target',
  'address',
  'outcome',
  'operation',
  'before',
  'after',
  'hash',
] as const

export function createAuditExport(
  auditLog: Pick<AuditLog, 'list'>,
): JobKind<AuditExportInput, AuditExportPosition> {
  return {
    name: 'server.export-audit-log',
    summary: 'Export the audit log of operators as a file',
    role: 'admin',
    input: AuditExportInput,
    file: ({ input: { format }, createdAt }) => ({
      name: `audit-log-${createdAt.slice(0, 10)}.${format}`,
      contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
    }),
    async runStep({ input: { format, ...filter }, position, startedAt }) {
      // Entries that are written during the job would otherwise move the pages.
      const to = filter.to ?? new Date(startedAt).toISOString()
      const { items, next } = await auditLog.list({
        ...filter,
        to,
        limit: ENTRIES_PER_STEP,
        after: position?.after,
      })
      const head = position === undefined && format === 'csv' ? `${COLUMNS.join(',')}\r\n` : ''
      const text = head + items.map(format === 'csv' ? toCsvLine : toJsonLine).join('')
      const done = (position?.done ?? 0) + items.length
      return {
        position: next && { after: next, done },
        done,
        ...(!next && { total: done }),
        counts: { entries: items.length },
        output: new TextEncoder().encode(text),
      }
    },
  }
}

function toJsonLine(entry: AuditEntry): string {
  return `${JSON.stringify(toAuditEntryView(entry))}\n`
}

/** As RFC 4180 has it. */
function toCsvLine(entry: AuditEntry): string {
  const cells = COLUMNS.map((column) => {
    const value = entry[column]
    if (value === undefined) return ''
    return toCsvCell(typeof value === 'string' ? value : JSON.stringify(value))
  })
  return `${cells.join(',')}\r\n`
}

function toCsvCell(text: string): string {
  // A spreadsheet would run a cell that begins like this as a formula.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
