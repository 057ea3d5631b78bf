/** The audit log as a file for spreadsheets. */
import type { AuditEntry } from './api.ts'

export function downloadCsv(entries: readonly AuditEntry[]): void {
  const rows = [
    ['time', 'actor', 'action', 'target', 'changes'],
    ...entries.map(({ at, actor, action, target, changes }) => [
      at,
      actor,
      action,
      target ?? '',
      changes
        .map(({ name, before, after }) => `${name}: ${before ?? ''} → ${after ?? ''}`)
        .join('; '),
    ]),
  ]
  const text = rows.map((row) => row.map(cell).join(',')).join('\r\n')
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `audit-log-${new Date().toISOString().slice(0, 10)}.csv`
  link.click()
  URL.revokeObjectURL(url)
}

/** Spreadsheets would run a value that begins like a formula. */
function cell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return `"${safe.replaceAll('"', '""')}"`
}
