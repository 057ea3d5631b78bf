/** The audit log as a file: all that the API returns, with hashes. */
import type { AuditEntry } from './api.ts'

export function downloadEntries(entries: readonly AuditEntry[]): void {
  const text = `${JSON.stringify(entries, null, 2)}\n`
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `strongroom-audit-${new Date().toISOString().slice(0, 10)}.json`
  link.click()
  URL.revokeObjectURL(url)
}
