import type { DataModel, EntityModel } from '@strongroom/kit/data-model'
import { NoticeItem, noticeKey } from './accounts/users/notice-store.ts'
import { TicketItem, ticketKey } from './accounts/admin/ticket-store.ts'
import { apiKeyByHash, apiKeyById, ApiKeyItem, apiKeyKey } from './accounts/api-keys/item.ts'
import { AuditItem, auditKey } from './accounts/audit/item.ts'
import { SecondFactorItem, secondFactorKey } from './accounts/second-factor/item.ts'
import { RefreshTokenItem, refreshTokenKey } from './accounts/sessions/item.ts'
import {
  emailGuardKey,
  GuardItem,
  oauthGuardKey,
  userByEmail,
  UserItem,
  userKey,
} from './accounts/users/item.ts'
import { AlertSettingsItem, alertSettingsKey } from './alerts/item.ts'
import {
  CircuitItem,
  circuitKey,
  connectionById,
  ConnectionItem,
  connectionKey,
  EndCountItem,
  endCountKey,
} from './connections/item.ts'
import { AttemptItem, attemptKey, DeliveryItem, deliveryKey } from './deliveries/item.ts'
import {
  DedupItem,
  dedupKey,
  EventBodyItem,
  eventBodyKey,
  eventById,
  EventItem,
  eventKey,
  EventRefItem,
  eventRefKey,
} from './events/item.ts'
import { RateWindowItem, rateWindowKey } from './http/rate-limits.ts'
import { functions } from './iam.ts'
import { IngestCounterItem, ingestCounterKey } from './ingest/counter-store.ts'
import {
  MeteringTaskItem,
  meteringTaskKey,
  DeliveryTaskItem,
  deliveryTaskKey,
  ShardCountItem,
  shardCountKey,
  heldTaskKey,
  PurgeTaskItem,
  purgeTaskKey,
  RouteTaskItem,
  routeTaskKey,
  ParkedTaskItem,
  parkedTaskKey,
  WakeUpTaskItem,
  wakeUpTaskKey,
} from './queue/tasks.ts'
import { ReplayItem, replayKey, ReplayTaskItem, replayTaskKey } from './replays/item.ts'
import { sourceById, SourceItem, sourceKey } from './sources/item.ts'
import type { KeyTemplate } from './storage/key-template.ts'
import { eventsTable, mainTable } from './tables.ts'
import {
  TestContentItem,
  testContentKey,
  TestCounterItem,
  testCounterKey,
  TestRequestItem,
  testRequestKey,
} from './test-requests/item.ts'
import { RollupItem, rollupKey, RollupWatermarkItem, rollupWatermarkKey } from './usage/item.ts'
import { QuotaItem, quotaKey } from './usage/item.ts'

function keys(...templates: Pick<KeyTemplate<Record<string, string>>, 'templates'>[]) {
  return Object.assign({}, ...templates.map((each) => each.templates)) as Record<string, string>
}

const withEvent = 'as long as its event'

const entities: readonly EntityModel[] = [
  { name: 'User', table: mainTable, keys: keys(userKey, userByEmail), schema: UserItem },
  { name: 'E-mail guard', table: mainTable, keys: keys(emailGuardKey), schema: GuardItem },
  { name: 'Sign-in guard', table: mainTable, keys: keys(oauthGuardKey), schema: GuardItem },
  {
    name: 'Second factors of a user',
    table: mainTable,
    keys: keys(secondFactorKey),
    schema: SecondFactorItem,
  },
  {
    name: 'Alert settings',
    table: mainTable,
    keys: keys(alertSettingsKey),
    schema: AlertSettingsItem,
  },
  { name: 'Source', table: mainTable, keys: keys(sourceKey, sourceById), schema: SourceItem },
  {
    name: 'Connection',
    table: mainTable,
    keys: keys(connectionKey, connectionById),
    schema: ConnectionItem,
  },
  {
    name: 'API key',
    table: mainTable,
    keys: keys(apiKeyKey, apiKeyByHash, apiKeyById),
    schema: ApiKeyItem,
  },
  {
    name: 'Event',
    table: eventsTable,
    keys: keys(eventKey, eventById),
    schema: EventItem,
    lifetime:
      '24 hours, 7, 30 or 90 days from its receipt, by plan; longer while a delivery needs it',
  },
  {
    name: 'Event reference',
    table: eventsTable,
    keys: keys(eventRefKey),
    schema: EventRefItem,
    lifetime: 'written by earlier versions, until the expiry of its event at that time',
  },
  {
    name: 'Event body',
    table: eventsTable,
    keys: keys(eventBodyKey),
    schema: EventBodyItem,
    lifetime: withEvent,
  },
  {
    name: 'Delivery',
    table: eventsTable,
    keys: keys(deliveryKey),
    schema: DeliveryItem,
    lifetime: 'until the expiry of its event when it last changed',
  },
  {
    name: 'Delivery attempt',
    table: eventsTable,
    keys: keys(attemptKey),
    schema: AttemptItem,
    lifetime: 'as long as its delivery',
  },
  {
    name: 'Request to the test destination',
    table: eventsTable,
    keys: keys(testRequestKey),
    schema: TestRequestItem,
    lifetime: '24 hours',
  },
  {
    name: 'Content of a test request',
    table: eventsTable,
    keys: keys(testContentKey),
    schema: TestContentItem,
    lifetime: '24 hours',
  },
  {
    name: 'Number of the last test request',
    table: eventsTable,
    keys: keys(testCounterKey),
    schema: TestCounterItem,
    lifetime: '48 hours from the last request',
  },
  {
    name: 'Ended deliveries of a connection',
    table: eventsTable,
    keys: keys(endCountKey),
    schema: EndCountItem,
    lifetime: 'as long as its connection',
  },
  {
    name: 'Open circuit breaker',
    table: eventsTable,
    keys: keys(circuitKey),
    schema: CircuitItem,
    lifetime: 'until it closes, at most 10 minutes after its next attempt',
  },
  {
    name: 'Deduplication key',
    table: eventsTable,
    keys: keys(dedupKey),
    schema: DedupItem,
    lifetime: 'the retention of the plan',
  },
  { name: 'Route task', table: eventsTable, keys: keys(routeTaskKey), schema: RouteTaskItem },
  {
    name: 'Delivery task',
    table: eventsTable,
    keys: keys(deliveryTaskKey),
    schema: DeliveryTaskItem,
  },
  {
    name: 'Parked delivery',
    table: eventsTable,
    keys: keys(parkedTaskKey),
    schema: ParkedTaskItem,
    lifetime: 'no TTL; fails after 30 days',
  },
  {
    name: 'Delivery held by its owner',
    table: eventsTable,
    keys: keys(heldTaskKey),
    schema: ParkedTaskItem,
    lifetime: 'no TTL; fails after 30 days',
  },
  { name: 'Wake-up task', table: eventsTable, keys: keys(wakeUpTaskKey), schema: WakeUpTaskItem },
  {
    name: 'Metering task',
    table: eventsTable,
    keys: keys(meteringTaskKey),
    schema: MeteringTaskItem,
  },
  { name: 'Purge task', table: eventsTable, keys: keys(purgeTaskKey), schema: PurgeTaskItem },
  {
    name: 'Replay',
    table: eventsTable,
    keys: keys(replayKey),
    schema: ReplayItem,
    lifetime: '30 days from its last change',
  },
  { name: 'Replay task', table: eventsTable, keys: keys(replayTaskKey), schema: ReplayTaskItem },
  {
    name: 'Hourly or daily statistics',
    table: eventsTable,
    keys: keys(rollupKey),
    schema: RollupItem,
    lifetime: '40 days',
  },
  {
    name: 'Watermark of statistics',
    table: eventsTable,
    keys: keys(rollupWatermarkKey),
    schema: RollupWatermarkItem,
    lifetime: '40 days from the last hour that was counted',
  },
  {
    name: 'Number of queue shards',
    table: eventsTable,
    keys: keys(shardCountKey),
    schema: ShardCountItem,
  },
  {
    name: 'Session (refresh token family)',
    table: eventsTable,
    keys: keys(refreshTokenKey),
    schema: RefreshTokenItem,
    lifetime: '30 days from its last use',
  },
  {
    name: 'Audit entry',
    table: eventsTable,
    keys: keys(auditKey),
    schema: AuditItem,
    lifetime: '365 days',
  },
  {
    name: 'Ticket',
    table: eventsTable,
    keys: keys(ticketKey),
    schema: TicketItem,
    lifetime:
      '7 days for an invite, 24 hours for a password reset or a verification, 10 minutes for a sign-in; deleted when used',
  },
  {
    name: 'Notice for a user',
    table: eventsTable,
    keys: keys(noticeKey),
    schema: NoticeItem,
    lifetime: '30 days',
  },
  {
    name: 'Rate window',
    table: eventsTable,
    keys: keys(rateWindowKey),
    schema: RateWindowItem,
    lifetime: 'two windows',
  },
  {
    name: 'Monthly quota',
    table: eventsTable,
    keys: keys(quotaKey),
    schema: QuotaItem,
    lifetime: '40 days from its last event',
  },
  {
    name: 'Hourly ingest counters',
    table: eventsTable,
    keys: keys(ingestCounterKey),
    schema: IngestCounterItem,
    lifetime: '30 days',
  },
]

export const dataModel: DataModel = {
  service: 'Ferryhook',
  entities,
  functions,
}
