/** The one table of Form-Bridge. What is in it, entity by entity, is under `items/`. */
import { defineTable } from '@strongroom/kit/table'

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
     * For the lists of people who administer. It holds neither hashes nor secrets, so that whoever
     * may only list can read none; and nothing that changes with a request, because then every
     * request of every site would write to the one partition `SITES#active`.
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
