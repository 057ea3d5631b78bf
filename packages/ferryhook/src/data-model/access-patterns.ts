import type { AccessPattern } from '@strongroom/kit/data-model'
import type { Table } from '@strongroom/kit/table'
import { eventsTable, mainTable } from '../table.ts'

type Row = readonly [name: string, servedBy: string, key: string, index?: string]

const of = (table: Table, rows: readonly Row[]): AccessPattern[] =>
  rows.map(([name, servedBy, key, index]) => ({
    name,
    servedBy: `db/${servedBy}`,
    table,
    key,
    ...(index !== undefined && { index }),
  }))

export const patterns: readonly AccessPattern[] = [
  ...of(mainTable, [
    [
      'Create user',
      'users.ts: create',
      'PK = USER#{userId}, SK = PROFILE, with EMAIL# and OAUTH# guards',
    ],
    ['Get user by ID', 'users.ts: getById', 'PK = USER#{userId}, SK = PROFILE'],
    ['Get user by email', 'users.ts: getByEmail', 'GSI1PK = EMAIL#{email}', 'GSI1'],
    [
      'Get user by sign-in identity',
      'users.ts: getByOAuth',
      'PK = OAUTH#{provider}#{id}, SK = GUARD',
    ],
    [
      'Reset password with a ticket',
      'users.ts: resetPassword',
      'PK = USER#{userId}, SK = PROFILE, with TICKET#{ticketHash}',
    ],
    ['List users', 'user-listing.ts: list', 'Scan, SK = PROFILE'],
    ['Change user', 'users.ts: update', 'PK = USER#{userId}, SK = PROFILE'],
    ['Count usage of the month', 'users.ts: incrementUsage', 'PK = USER#{userId}, SK = PROFILE'],
    ['Delete user', 'users.ts: delete', 'PK = USER#{userId}, SK = PROFILE, with its guards'],
    ['Get alert settings', 'alert-settings.ts: get', 'PK = USER#{userId}, SK = ALERTS'],
    [
      'Change alert settings',
      'alert-settings.ts: put',
      'PK = USER#{userId}, SK = ALERTS if rev is unchanged, with SK = PROFILE',
    ],
    ['Note a failing alert webhook', 'alert-settings.ts: note', 'PK = USER#{userId}, SK = ALERTS'],
    ['Delete alert settings', 'alert-settings.ts: delete', 'PK = USER#{userId}, SK = ALERTS'],
    ['Create source', 'sources.ts: create', 'PK = USER#{userId}, SK = SRC#{sourceId}'],
    ['List sources for user', 'sources.ts: listByUser', 'PK = USER#{userId}, SK begins_with SRC#'],
    [
      'Get source by ID (for ingestion)',
      'sources.ts: getById',
      'GSI3PK = SRCID#{sourceId}',
      'GSI3',
    ],
    ['Get source of its owner', 'sources.ts: getOwned', 'PK = USER#{userId}, SK = SRC#{sourceId}'],
    ['Change source', 'sources.ts: update', 'PK = USER#{userId}, SK = SRC#{sourceId}'],
    ['Delete source', 'sources.ts: delete', 'PK = USER#{userId}, SK = SRC#{sourceId}'],
    [
      'Purge source, with the account',
      'sources.ts: purge',
      'PK = USER#{userId}, SK = SRC#{sourceId}, and PK = SRC#{sourceId}',
    ],
    ['Purge connection', 'connections.ts: purge', 'PK = SRC#{sourceId}, SK = CONN#{connectionId}'],
    [
      'Count events of a source',
      'usage.ts: advance',
      'PK = USER#{userId}, SK = SRC#{sourceId} and SK = PROFILE',
    ],
    [
      'Create connection',
      'connections.ts: create',
      'PK = SRC#{sourceId}, SK = CONN#{connectionId}',
    ],
    [
      'List connections for source',
      'connections.ts: listBySource',
      'PK = SRC#{sourceId}, SK begins_with CONN#',
    ],
    [
      'Get connection of a source',
      'connections.ts: get',
      'PK = SRC#{sourceId}, SK = CONN#{connectionId}',
    ],
    [
      'Get connection of its owner',
      'connections.ts: getOwned',
      'GSI3PK = CONNID#{connectionId}, else PK = SRC#{sourceId} of each source',
      'GSI3',
    ],
    ['Get connection by ID', 'connections.ts: getById', 'GSI3PK = CONNID#{connectionId}', 'GSI3'],
    ['Change connection by ID', 'connections.ts: update', 'GSI3PK = CONNID#{connectionId}', 'GSI3'],
    ['Delete connection by ID', 'connections.ts: delete', 'GSI3PK = CONNID#{connectionId}', 'GSI3'],
    [
      'Count outcomes of a connection',
      'connection-health.ts: add',
      'PK = SRC#{sourceId}, SK = CONN#{connectionId}',
    ],
    [
      'Warn of a failing connection once',
      'connection-health.ts: warn',
      'PK = SRC#{sourceId}, SK = CONN#{connectionId} if nobody has',
    ],
    [
      'Pause a failing connection',
      'connection-health.ts: pause',
      'PK = SRC#{sourceId}, SK = CONN#{connectionId} if it is active',
    ],
    ['Create API key', 'api-keys.ts: create', 'PK = USER#{userId}, SK = KEY#{keyId}'],
    ['Authenticate API key', 'api-keys.ts: getByHash', 'GSI2PK = KEYHASH#{hash}', 'GSI2'],
    ["List user's API keys", 'api-keys.ts: listByUser', 'PK = USER#{userId}, SK begins_with KEY#'],
    ['Note the use of an API key', 'api-keys.ts: updateLastUsed', 'GSI3PK = KEYID#{keyId}', 'GSI3'],
    ['Delete API key', 'api-keys.ts: delete', 'PK = USER#{userId}, SK = KEY#{keyId}'],
  ]),
  ...of(eventsTable, [
    [
      'Store event',
      'events.ts: create',
      'PK = SRC#{sourceId}, SK = EVT#{receivedAt}#{eventId}, with REF, BODY, DEDUP, QUOTA and the routing task',
    ],
    [
      'List events for source (newest first)',
      'events.ts: listBySource',
      'PK = SRC#{sourceId}, SK begins_with EVT#, ScanIndexForward=false',
    ],
    [
      'List events for source from a time on (oldest first)',
      'events.ts: listFrom',
      'PK = SRC#{sourceId}, SK BETWEEN EVT#{receivedAt}#{eventId} AND EVT#{to}#~',
    ],
    ['Get event by ID', 'events.ts: getById', 'GSI1PK = EVTID#{eventId}', 'GSI1'],
    ['Get event by ID, as last written', 'events.ts: getCurrent', 'PK = EVT#{eventId}, SK = REF'],
    [
      'Get event of a task',
      'events.ts: getNeeded',
      'PK = SRC#{sourceId}, SK = EVT#{receivedAt}#{eventId}',
    ],
    ['Get body of event', 'events.ts: getBody', 'PK = EVT#{eventId}, SK = BODY'],
    [
      'Set status of event',
      'events.ts: updateStatus',
      'PK = SRC#{sourceId}, SK = EVT#{receivedAt}#{eventId} if rev is unchanged',
    ],
    [
      'Store attempt',
      'attempts.ts: create',
      'PK = EVT#{eventId}, SK = ATT#{attemptNumber}#{connectionId}#{run}',
    ],
    [
      'List attempts for event',
      'attempts.ts: listByEvent',
      'PK = EVT#{eventId}, SK begins_with ATT#',
    ],
    ['Get delivery', 'deliveries.ts: get', 'PK = EVT#{eventId}, SK = DLV#{connectionId}'],
    [
      'List deliveries for event',
      'deliveries.ts: listByEvent',
      'PK = EVT#{eventId}, SK begins_with DLV#',
    ],
    [
      'Replay delivery',
      'deliveries.ts: replay',
      'PK = EVT#{eventId}, SK = DLV#{connectionId} if no run is open',
    ],
    ['List due work of a shard', 'due-work.ts: listDue', 'PK = DUE#{shard}, SK < {now + 1}'],
    [
      'List overdue work of a shard',
      'due-work.ts: listOverdue',
      'PK = DUE#{shard}, SK < {now - 20 minutes}',
    ],
    [
      'Keep events of overdue work',
      'keeping.ts: keepOverdue',
      'PK = SRC#{sourceId}, SK = EVT#{receivedAt}#{eventId} if rev is unchanged',
    ],
    [
      'Claim task',
      'due-work.ts: claim',
      'from PK = DUE#{shard}, SK = {dueAt}#… to SK = {leaseUntil}#…',
    ],
    [
      'Give a task back',
      'due-work.ts: giveBack',
      'from PK = DUE#{shard}, SK = {leaseUntil}#… to SK = {now}#…',
    ],
    [
      'Plan the counting of a source',
      'usage.ts: plan',
      'PK = DUE#{shard}, SK = {dueAt}#COUNT#{sourceId}',
    ],
    [
      'Count events received since the mark',
      'usage.ts: roll',
      'PK = SRC#{sourceId}, SK BETWEEN EVT#{countedUntil} AND EVT#{two minutes ago}',
    ],
    ['Route event', 'routing.ts: route', 'PK = DUE#{shard}, SK = {dueAt}#{eventId}#ROUTE'],
    [
      'Settle attempt',
      'settling.ts: settle',
      'PK = DUE#{shard}, SK = {leaseUntil}#… if the lease is its own',
    ],
    ['Park delivery', 'waiting.ts: park', 'PK = WAIT#{connectionId}, SK = {parkedAt}#{eventId}'],
    ['List waiting deliveries', 'waiting.ts: list', 'PK = WAIT#{connectionId}'],
    [
      'Wake waiting deliveries',
      'waiting.ts: wake',
      'PK = DUE#{shard}, SK = {dueAt}#WAKE#{connectionId}',
    ],
    [
      'Fail deliveries that waited too long',
      'waiting.ts: failOverstayed',
      'PK = WAIT#{connectionId}',
    ],
    [
      'Attempt a waiting delivery now',
      'delivery-control.ts: attemptNow',
      'from where its task waits to PK = DUE#{shard}, SK = {now}#…',
    ],
    [
      'Hold a waiting delivery',
      'delivery-control.ts: hold',
      'from where its task waits to PK = WAIT#{connectionId}, SK = ~{parkedAt}#{eventId}',
    ],
    [
      'Cancel a waiting delivery',
      'delivery-control.ts: cancel',
      'PK = DUE#{shard} or WAIT#{connectionId}, if its task waits there',
    ],
    [
      'Start replay',
      'replays.ts: create',
      'PK = USER#{userId}, SK = RPL#{replayId}, with its task',
    ],
    ['Get replay', 'replays.ts: get', 'PK = USER#{userId}, SK = RPL#{replayId}'],
    ['List replays of user', 'replays.ts: listByUser', 'PK = USER#{userId}, SK begins_with RPL#'],
    ['List replays to go on with', 'replays.ts: listDue', 'PK = REPLAYS, SK < {now + 1}'],
    [
      'Claim replay',
      'replays.ts: claim',
      'from PK = REPLAYS, SK = {dueAt}#… to SK = {leaseUntil}#…',
    ],
    [
      'Begin a step of a replay',
      'replays.ts: begin',
      'PK = USER#{userId}, SK = RPL#{replayId} if rev is unchanged',
    ],
    [
      'End a step of a replay',
      'replays.ts: advance',
      'PK = USER#{userId}, SK = RPL#{replayId} if rev is unchanged, with its task',
    ],
    [
      'Cancel replay',
      'replays.ts: cancel',
      'PK = USER#{userId}, SK = RPL#{replayId} if rev is unchanged',
    ],
    [
      'Count an hour of events',
      'event-scan.ts: count',
      'PK = SRC#{sourceId}, SK BETWEEN EVT#{from} AND EVT#{until}, few attributes',
    ],
    [
      'Bring figures up to date',
      'stats.ts: refresh',
      'PK = STAT#{sourceId}, SK = MARK, hour#{startsAt} and day#{startsAt}',
    ],
    [
      'List figures of hours or days',
      'stats.ts: list',
      'PK = STAT#{sourceId}, SK BETWEEN {span}#{from} AND {span}#{until}',
    ],
    ['Have an hour counted again', 'stats.ts: touch', 'PK = STAT#{sourceId}, SK = MARK'],
    ['Get number of shards', 'due-shards.ts: count', 'PK = CONFIG, SK = DUE'],
    ['Raise number of shards', 'due-shards.ts: raise', 'PK = CONFIG, SK = DUE if it is lower'],
    ['Begin session', 'refresh-tokens.ts: create', 'PK = USER#{userId}, SK = RTK#{familyId}'],
    [
      'Replace refresh token',
      'refresh-tokens.ts: rotate',
      'PK = USER#{userId}, SK = RTK#{familyId} if the token is the last one',
    ],
    [
      'List sessions of user',
      'refresh-tokens.ts: listByUser',
      'PK = USER#{userId}, SK begins_with RTK#',
    ],
    ['Get session', 'refresh-tokens.ts: get', 'PK = USER#{userId}, SK = RTK#{familyId}'],
    ['End session', 'refresh-tokens.ts: revoke', 'PK = USER#{userId}, SK = RTK#{familyId}'],
    [
      'End all sessions of user',
      'refresh-tokens.ts: revokeAll',
      'PK = USER#{userId}, SK begins_with RTK#',
    ],
    ['Write audit entry', 'audit.ts: add', 'PK = USER#{userId}, SK = AUDIT#{entryId}'],
    [
      'List audit entries (newest first)',
      'audit.ts: listByUser',
      'PK = USER#{userId}, SK begins_with AUDIT#, ScanIndexForward=false',
    ],
    ['Make ticket', 'tickets.ts: create', 'PK = TICKET#{ticketHash}, SK = TICKET'],
    ['Get ticket', 'tickets.ts: get', 'PK = TICKET#{ticketHash}, SK = TICKET'],
    ['Use ticket', 'tickets.ts: usePart', 'PK = TICKET#{ticketHash}, SK = TICKET if it is there'],
    ['Count request', 'rates.ts: take', 'PK = RATE#{scope}#{id}, SK = WINDOW'],
    [
      'Note what was refused',
      'tallies.ts: put',
      'PK = SRC#{sourceId}, SK = TALLY#{hour}#{writerId}',
    ],
    [
      'List what was refused',
      'tallies.ts: listBySource',
      'PK = SRC#{sourceId}, SK BETWEEN TALLY#{hour} AND TALLY#~',
    ],
  ]),
]
