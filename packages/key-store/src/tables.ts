/** The table of the DynamoDB key storage, as AWS's own libraries create it. */
import { defineTable } from '@strongroom/kit/table'

export const branchKeysTable = defineTable({
  name: 'strongroom-branch-keys',
  description: 'Branch keys and beacon keys, each wrapped by KMS',
  partitionKey: { name: 'branch-key-id', type: 'S' },
  sortKey: { name: 'type', type: 'S' },
  // A lost branch key is everything that was encrypted under it.
  pointInTimeRecovery: true,
})

/**
 * Bound to every key by KMS, and never stored. A constant, so that keys stay readable when the
 * table gets another prefix or is restored under another name.
 */
export const LOGICAL_KEY_STORE_NAME = 'strongroom-branch-keys'
