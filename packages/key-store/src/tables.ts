/** The table of the DynamoDB key storage, as AWS's own libraries create it. */
import { defineTable } from '@strongroom/kit/table'

export const branchKeysTable = defineTable({
  name: 'strongroom-branch-keys',
  description: 'Branch keys and beacon keys, each wrapped by KMS',
  partitionKey: { name: 'branch-key-id', type: 'S' },
  sortKey: { name: 'type', type: 'S' },
  // Losing a branch key means losing everything that was encrypted under it.
  pointInTimeRecovery: true,
})

/**
 * KMS binds every key to this name, which is not stored. It is a constant, so keys stay readable if the
 * table gets another prefix or is restored under another name.
 */
export const LOGICAL_KEY_STORE_NAME = 'strongroom-branch-keys'
