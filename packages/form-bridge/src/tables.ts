/** The table of Form-Bridge and how long its items live. Each noun has its items in `item.ts`. */
import type { Clock } from '@strongroom/platform/clock'
import type { Db, Item } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { defineTable } from '@strongroom/kit/table'
import type { z } from 'zod'

export const formBridgeTable = defineTable({
  name: 'form-bridge-plugin-auth',
  description: 'WordPress sites: registrations, credentials, limits, updates, agencies, events',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  indexes: {
    GSI1: {
      partitionKey: { name: 'GSI1PK', type: 'S' },
      sortKey: { name: 'GSI1SK', type: 'S' },
      projection: 'ALL',
    },
    /**
     * For the lists of operators. It has no hashes and no secrets, so a caller that may only list
     * cannot read them. It has no attribute that changes with a request either: every request of
     * every site would then write to the partition `SITES#active`.
     */
    GSI2: {
      partitionKey: { name: 'GSI2PK', type: 'S' },
      sortKey: { name: 'GSI2SK', type: 'S' },
      projection: {
        include: [
          'registration_id',
          'domain',
          'site_id',
          'status',
          'created_at',
          'expires_at',
          'ttl',
          'agency_id',
          'agency_name',
          'contact_email',
          'max_sites',
          'current_sites',
          'pattern_type',
          'identifier',
          'severity',
          'details',
          'detected_at',
          'scope',
          'id',
          'limits',
        ],
      },
    },
  },
  ttl: 'ttl',
  pointInTimeRecovery: true,
})

const DAY = 86_400

/** From the specification. */
export const TTL_SECONDS = {
  registration: 3600,
  /** Counted from the end of the bucket. */
  rateBucket: DAY,
  registrationRateBucket: 300,
  validation: DAY,
  versionCache: 7200,
  updateCheck: 90 * DAY,
  securityEvent: 30 * DAY,
  abuse: { low: DAY, medium: 7 * DAY, high: 30 * DAY, critical: 90 * DAY },
  /** Twice the clock skew that a signed request may have. */
  nonce: 600,
  approvedMove: DAY,
  /** An upload that is not complete by then may be replaced by another one. */
  packageUpload: 900,
} as const

export interface StoreDeps {
  db: Db
  clock: Clock
}

/** Items on a page of a list. */
export const DEFAULT_PAGE_SIZE = 50

/** An update sends values and not the whole item, so they are checked against the schema first. */
export function checkValues<Schema extends z.ZodObject>(
  schema: Schema,
  key: Item,
  values: Partial<z.infer<Schema>>,
): void {
  const result = schema.partial().safeParse(values)
  if (!result.success) throw new ItemMismatch(formBridgeTable, key, 'write', result.error)
}
