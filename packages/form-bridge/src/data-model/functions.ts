/**
 * The deployable functions, each with the partitions that it needs: a function that answers update
 * checks cannot change credentials, and one that lists sites reads no secret.
 */
import type { ServiceFunction } from '@strongroom/kit/data-model'
import { formBridgeTable as table } from '../table.ts'

/** Every function counts requests and writes down what looks wrong. */
const limitsAndEvents = [
  { table, actions: ['UpdateItem', 'GetItem'], leadingKeys: ['RATE#*'] },
  { table, actions: ['PutItem'], leadingKeys: ['FAILED#*', 'ABUSE#*'] },
  { table, actions: ['Query'], leadingKeys: ['ABUSE#*'] },
] as const

/** Reads of whose request it is. */
const authentication = [
  { table, actions: ['GetItem'], leadingKeys: ['API#*', 'SITEID#*', 'SITE#*'] },
  { table, actions: ['PutItem'], leadingKeys: ['NONCE#*'] },
] as const

/** In which agencies a site is: it moves, and leaves, with its places in them. */
const placesInAgencies = {
  table,
  actions: ['GetItem', 'Query', 'DeleteItem'],
  leadingKeys: ['SITEID#*'],
} as const

export const functions: readonly ServiceFunction[] = [
  {
    name: 'register',
    summary: 'takes registrations',
    allows: [
      { table, actions: ['PutItem', 'UpdateItem', 'GetItem', 'Query'], leadingKeys: ['SITE#*'] },
      { table, actions: ['GetItem'], leadingKeys: ['AGENCY#*'] },
      ...limitsAndEvents,
    ],
  },
  {
    name: 'exchange',
    summary: 'turns a proved registration into credentials',
    allows: [
      {
        table,
        actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
        leadingKeys: ['SITE#*', 'SITEID#*', 'API#*', 'AGENCY#*'],
      },
      placesInAgencies,
      ...limitsAndEvents,
    ],
  },
  {
    name: 'validate',
    summary: 'checks domains',
    allows: [
      { table, actions: ['GetItem', 'Query'], leadingKeys: ['SITE#*'] },
      { table, actions: ['GetItem', 'PutItem'], leadingKeys: ['VALIDATION#*'] },
      { table, actions: [], indexes: ['GSI1'], leadingKeys: ['ABUSE_TRACKING#*'] },
      ...limitsAndEvents,
    ],
  },
  {
    name: 'site',
    summary: 'answers requests of sites: status, rotation, heartbeat, disconnect, submissions',
    allows: [
      ...authentication,
      {
        table,
        actions: ['PutItem', 'UpdateItem', 'DeleteItem'],
        leadingKeys: ['SITE#*', 'API#*'],
      },
      {
        table,
        actions: ['GetItem', 'UpdateItem', 'DeleteItem'],
        leadingKeys: ['AGENCY#*'],
      },
      placesInAgencies,
      ...limitsAndEvents,
    ],
  },
  {
    name: 'updates',
    summary: 'answers update checks and hands out packages',
    allows: [
      ...authentication,
      { table, actions: ['GetItem', 'Query'], leadingKeys: ['PLUGIN#*', 'PACKAGE#*'] },
      {
        table,
        actions: ['GetItem', 'PutItem', 'DeleteItem'],
        leadingKeys: ['PLUGIN_VERSION#latest'],
      },
      {
        table,
        actions: ['GetItem', 'PutItem', 'UpdateItem', 'Query'],
        leadingKeys: ['UPDATE_CHECK#*', 'ADOPTION#*'],
      },
      ...limitsAndEvents,
    ],
  },
  {
    name: 'agency',
    summary: 'shows agencies their sites and makes join tokens',
    allows: [
      { table, actions: ['GetItem'], leadingKeys: ['AGENCY_API#*'] },
      {
        table,
        actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
        leadingKeys: ['AGENCY#*'],
      },
      // Of its own sites: to show, to confirm, and to say where submissions go.
      { table, actions: ['GetItem', 'UpdateItem'], leadingKeys: ['SITE#*'] },
      { table, actions: ['GetItem'], leadingKeys: ['UPDATE_CHECK#*'] },
      placesInAgencies,
      ...limitsAndEvents,
    ],
  },
  {
    name: 'operator',
    summary: 'lists and changes the status of sites, agencies, limits; reads events and adoption',
    allows: [
      // One site at a time, whose secrets it cannot open: the lists are in GSI2, which has none.
      { table, actions: ['GetItem', 'UpdateItem', 'DeleteItem'], leadingKeys: ['SITE#*'] },
      placesInAgencies,
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
    name: 'publish',
    summary: 'takes signed releases',
    allows: [
      {
        table,
        actions: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
        leadingKeys: ['PLUGIN#*', 'PACKAGE#*'],
      },
      { table, actions: ['DeleteItem'], leadingKeys: ['PLUGIN_VERSION#latest'] },
    ],
  },
]
