/** Changes of branch keys with an entry in the audit log: for the routes and for commands. */
import type { AuditActor, AuditLog } from '@strongroom/kit/audit-log'
import type { Db, TransactWriteItem } from '@strongroom/kit/db'
import type { BranchKeys, NewBranchKey, RotateOptions } from './service.ts'

export type AuditedBranchKeys = ReturnType<typeof createAuditedBranchKeys>

export function createAuditedBranchKeys(deps: {
  auditLog: Pick<AuditLog, 'audited'>
  branchKeysOn(db: Db): Pick<BranchKeys, 'create' | 'rotate'>
}) {
  const { auditLog, branchKeysOn } = deps
  return {
    create(by: AuditActor, input: NewBranchKey) {
      const { encryptionContext } = input
      const change = { ...by, action: 'key-store.key.created', after: { encryptionContext } }
      return branchKeysOn(auditLog.audited({ ...change, target: writtenKeyId })).create(input)
    },

    rotate(by: AuditActor, id: string, options?: RotateOptions) {
      const change = { ...by, action: 'key-store.key.rotated', target: id }
      return branchKeysOn(auditLog.audited(change)).rotate(id, options)
    },
  }
}

/** The key store may choose the id. */
function writtenKeyId(parts: readonly TransactWriteItem[]): string | undefined {
  const id = parts[0]?.Put?.Item['branch-key-id']
  return typeof id === 'string' ? id : undefined
}
