/**
 * The deployable functions, each with access to only the partitions that it needs: a function that
 * answers update checks cannot change credentials, and one that lists sites cannot read secrets.
 */
import type { ServiceFunction } from '@strongroom/kit/data-model'
import { formBridgeTable as table } from './tables.ts'

/** Every function for sites and agencies counts requests. */
const limits = { table, actions: ['UpdateItem', 'GetItem'], leadingKeys: ['RATE#*'] } as const

/** Those for sites also record security events. */
const limitsAndEvents = [
  limits,
  { table, actions: ['PutItem'], leadingKeys: ['FAILED#*', 'ABUSE#*'] },
  { table, actions: ['Query'], leadingKeys: ['ABUSE#*'] },
] as const

/** Signed requests use a nonce up. */
const nonces = { table, actions: ['PutItem'], leadingKeys: ['NONCE#*'] } as const

/** Finds the site of a request and uses its nonce up. */
const authentication = [
  { table, actions: ['GetItem'], leadingKeys: ['API#*', 'SITEID#*', 'SITE#*'] },
  nonces,
] as const

/** Memberships from before they had items of their own are only in the index. */
const indexedMemberships = {
  table,
  actions: [],
  indexes: ['GSI1'],
  leadingKeys: ['SITE#*'],
} as const

/** The memberships of a site, which end with it. */
const memberships = [
  { table, actions: ['GetItem', 'Query', 'DeleteItem'], leadingKeys: ['SITEID#*'] },
  indexedMemberships,
] as const

/** The newest version, which a concurrent withdrawal may make wrong while it is stored. */
const versionCache = {
  table,
  actions: ['GetItem', 'PutItem', 'DeleteItem'],
  leadingKeys: ['PLUGIN_VERSION#latest'],
} as const

export const functions: readonly ServiceFunction[] = [
  {
    name: 'register',
    summary: 'accepts registrations',
    allows: [
      { table, actions: ['PutItem', 'UpdateItem', 'GetItem'], leadingKeys: ['SITE#*'] },
      { table, actions: ['GetItem'], leadingKeys: ['AGENCY#*'] },
      ...limitsAndEvents,
    ],
  },
  {
    name: 'exchange',
    summary: 'exchanges a proved registration for credentials',
    allows: [
      {
        table,
        actions: ['GetItem', 'PutItem'],
        leadingKeys: ['SITE#*', 'SITEID#*', 'API#*', 'AGENCY#*'],
      },
      { table, actions: ['UpdateItem', 'ConditionCheckItem'], leadingKeys: ['SITE#*', 'AGENCY#*'] },
      // The old keys of a site, and where it was before.
      { table, actions: ['DeleteItem'], leadingKeys: ['SITE#*', 'API#*'] },
      // The memberships of a site that reconnects or moves.
      { table, actions: ['Query'], leadingKeys: ['SITEID#*'] },
      indexedMemberships,
      // A move is signed.
      nonces,
      ...limitsAndEvents,
    ],
  },
  {
    name: 'validate',
    summary: 'validates domains',
    allows: [
      { table, actions: ['GetItem', 'Query'], leadingKeys: ['SITE#*'] },
      { table, actions: ['GetItem', 'PutItem'], leadingKeys: ['VALIDATION#*'] },
      { table, actions: [], indexes: ['GSI1'], leadingKeys: ['ABUSE_TRACKING#*'] },
      ...limitsAndEvents,
    ],
  },
  {
    name: 'site',
    summary: 'serves connected sites: status, rotation, heartbeat, disconnect, submissions',
    allows: [
      ...authentication,
      { table, actions: ['UpdateItem', 'DeleteItem'], leadingKeys: ['SITE#*', 'API#*'] },
      { table, actions: ['PutItem'], leadingKeys: ['API#*'] },
      {
        table,
        actions: ['GetItem', 'UpdateItem', 'DeleteItem'],
        leadingKeys: ['AGENCY#*'],
      },
      ...memberships,
      // A heartbeat gets the newest version.
      { table, actions: ['Query'], leadingKeys: ['PLUGIN#*'] },
      versionCache,
      ...limitsAndEvents,
    ],
  },
  {
    name: 'updates',
    summary: 'answers update checks and serves packages',
    allows: [
      ...authentication,
      { table, actions: ['GetItem', 'Query'], leadingKeys: ['PLUGIN#*'] },
      { table, actions: ['GetItem'], leadingKeys: ['PACKAGE#*'] },
      versionCache,
      { table, actions: ['PutItem'], leadingKeys: ['UPDATE_CHECK#*'] },
      { table, actions: ['UpdateItem', 'Query'], leadingKeys: ['ADOPTION#*'] },
      ...limitsAndEvents,
    ],
  },
  {
    name: 'agency',
    summary: 'serves agencies: their sites and join tokens',
    allows: [
      { table, actions: ['GetItem'], leadingKeys: ['AGENCY_API#*'] },
      {
        table,
        actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
        leadingKeys: ['AGENCY#*'],
      },
      // Its own sites: to show and confirm them, and to set their destinations.
      { table, actions: ['GetItem', 'UpdateItem'], leadingKeys: ['SITE#*'] },
      { table, actions: ['GetItem'], leadingKeys: ['UPDATE_CHECK#*'] },
      ...memberships,
      limits,
    ],
  },
  {
    name: 'operator',
    summary: 'manages sites, agencies and limits; reads events and adoption',
    allows: [
      // Single sites, whose secrets it cannot decrypt. Lists come from GSI2, which has no secrets.
      {
        table,
        actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
        leadingKeys: ['SITE#*'],
      },
      // The list of sites reads some attributes of many of them.
      {
        table,
        actions: ['BatchGetItem'],
        leadingKeys: ['SITE#*', 'SITEID#*', 'UPDATE_CHECK#*'],
      },
      ...memberships,
      {
        table,
        actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
        leadingKeys: ['AGENCY#*', 'AGENCY_API#*', 'RATE#*'],
      },
      {
        table,
        actions: ['GetItem', 'Query'],
        leadingKeys: ['FAILED#*', 'ABUSE#*', 'UPDATE_CHECK#*', 'ADOPTION#*', 'PLUGIN#*'],
      },
      { table, actions: ['DeleteItem'], leadingKeys: ['ABUSE#*'] },
      {
        table,
        actions: [],
        indexes: ['GSI1'],
        leadingKeys: ['SECURITY#*', 'ABUSE_TRACKING#*', 'UPDATES#*', 'AGENCY_META#*', 'REG#*'],
      },
      { table, actions: [], indexes: ['GSI2'] },
    ],
  },
  {
    name: 'diagnosis',
    summary: 'looks up registrations, keys and index entries for operators; writes nothing',
    allows: [
      { table, actions: ['GetItem', 'Query'], leadingKeys: ['SITE#*', 'SITEID#*'] },
      {
        table,
        actions: ['GetItem'],
        leadingKeys: ['API#*', 'AGENCY#*', 'VALIDATION#*', 'PLUGIN#*', 'PLUGIN_VERSION#latest'],
      },
      {
        table,
        actions: [],
        indexes: ['GSI1'],
        leadingKeys: ['SITE#*', 'TEMP#*', 'REG#*', 'VERSION#*', 'AGENCY_META#*'],
      },
    ],
  },
  {
    name: 'publish',
    summary: 'publishes signed releases',
    allows: [
      {
        table,
        actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
        leadingKeys: ['PLUGIN#*'],
      },
      { table, actions: ['PutItem'], leadingKeys: ['PACKAGE#*'] },
      { table, actions: ['DeleteItem'], leadingKeys: ['PLUGIN_VERSION#latest'] },
    ],
  },
]
