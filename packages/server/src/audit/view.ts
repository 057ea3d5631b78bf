/** An audit log entry as responses and commands show it: null for what is missing. */
import type { AuditEntry } from '@strongroom/kit/audit-log'

export type AuditEntryView = {
  [Name in keyof AuditEntry]: undefined extends AuditEntry[Name]
    ? Exclude<AuditEntry[Name], undefined> | null
    : AuditEntry[Name]
}

export function toAuditEntryView(entry: AuditEntry): AuditEntryView {
  const { target = null, address = null, operation = null, before = null, after = null } = entry
  return { ...entry, target, address, operation, before, after }
}
