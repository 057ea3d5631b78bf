/** Shows what a filter and a transform would do to an event, without delivering it. */
import { newId } from '@strongroom/kit/ids'
import type { Clock } from '@strongroom/platform/clock'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { Event } from '../events/item.ts'
import type { Filter } from '../filters/filter.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SourceService } from '../sources/service.ts'
import type { Stores } from '../stores.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { applyTransform, type TransformOptions } from '../transforms/apply.ts'
import type { TransformFailureCode } from '../transforms/result.ts'
import type { Transform } from '../transforms/transform.ts'

export interface DryRunInput {
  filter?: Filter | undefined
  transform?: Transform | undefined
  event: ReceivedEvent
}

export type DryRunResult = (
  | { outcome: 'filtered'; reason: string }
  | { outcome: 'dropped'; reason: string }
  | { outcome: 'failed'; error: { code: TransformFailureCode; message: string } }
  | {
      outcome: 'delivered'
      body: Uint8Array
      contentType?: string
      headers?: Readonly<Record<string, string>>
    }
) & {
  /** Whether the event passes the filter. */
  matched: boolean
  console: readonly string[]
}

export async function dryRun(
  { filter = [], transform, event }: DryRunInput,
  options: TransformOptions,
): Promise<DryRunResult> {
  const { scheduler, owner } = options
  const { matched, reason } = await scheduler.evaluate(owner, { kind: 'filter', filter, event })
  if (!matched) return { outcome: 'filtered', matched, reason: reason ?? '', console: [] }
  const result = await applyTransform(transform, event, options)
  const { console = [] } = result
  if (result.kind === 'dropped') {
    return { outcome: 'dropped', matched, reason: result.reason, console }
  }
  if (result.kind === 'failed') {
    const { code, message } = result
    return { outcome: 'failed', matched, error: { code, message }, console }
  }
  const { kind: _, ...transformed } = result
  return { outcome: 'delivered', matched, ...transformed, console }
}

export interface SampleEvent {
  body: string
  headers?: Record<string, string> | undefined
  method?: string | undefined
  query?: string | undefined
  contentType?: string | undefined
}

export interface SourceDryRunInput {
  filters?: Filter | undefined
  transform?: Transform | undefined
  /** An event that the source received, or a sample. */
  event: { eventId: string } | { sample: SampleEvent }
}

/** Events of one batch, and the time after which it ends early. */
export const MAX_BATCH_EVENTS = 100
const MAX_BATCH_MS = 20_000

export interface BatchInput extends Pick<SourceDryRunInput, 'filters' | 'transform'> {
  /** These, or the latest ones of the source. */
  events: { eventIds: readonly string[] } | { last: number }
}

export interface BatchedRun {
  eventId: string
  event: Pick<Event, 'receivedAt' | 'eventType'> | undefined
  /** Undefined if the event does not exist (any more). Without bodies: a hundred are up to 25 MB. */
  result: BatchedResult | undefined
}

type BatchedResult =
  | Pick<Extract<DryRunResult, { reason: string }>, 'outcome' | 'reason'>
  | Pick<Extract<DryRunResult, { outcome: 'failed' }>, 'outcome' | 'error'>
  | { outcome: 'delivered' }

export interface BatchResult {
  runs: BatchedRun[]
  /** False if the time did not suffice for the rest. */
  isComplete: boolean
}

export type SourceDryRun = ReturnType<typeof createSourceDryRun>

/** Dry runs for a source of the principal. */
export function createSourceDryRun(deps: {
  stores: Pick<Stores, 'events'>
  sources: Pick<SourceService, 'get'>
  sandbox: Sandbox
  scheduler: WorkScheduler
  clock: Clock
}) {
  const { stores, sources, sandbox, scheduler, clock } = deps

  async function findEvent(eventId: string, sourceId: string): Promise<Event | undefined> {
    const event = await stores.events.getById(eventId)
    return event?.sourceId === sourceId ? event : undefined
  }

  async function toReceived(event: Event): Promise<ReceivedEvent | undefined> {
    const body = await stores.events.getBody(event)
    if (!body) return undefined
    const headers = JSON.parse(event.headers) as ReceivedEvent['headers']
    const { eventId: id, receivedAt, method, query, contentType } = event
    return { id, receivedAt, method, headers, query, body, contentType }
  }

  async function storedEvent(eventId: string, sourceId: string): Promise<ReceivedEvent> {
    const event = await findEvent(eventId, sourceId)
    const received = event && (await toReceived(event))
    if (!received) throw ferryhookError('event_not_found')
    return received
  }

  function sampleEvent(sample: SampleEvent): ReceivedEvent {
    const { body, headers = {}, method = 'POST', query } = sample
    const header = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')
    return {
      id: newId('evt'),
      receivedAt: clock.now(),
      method,
      headers,
      query,
      body: new TextEncoder().encode(body),
      contentType: sample.contentType ?? header?.[1] ?? 'application/json',
    }
  }

  return {
    async one(
      principal: Principal,
      sourceId: string,
      { filters, transform, event }: SourceDryRunInput,
    ): Promise<DryRunResult> {
      await sources.get(principal, sourceId)
      const received =
        'eventId' in event ? await storedEvent(event.eventId, sourceId) : sampleEvent(event.sample)
      const owner = principal.user.userId
      return dryRun({ filter: filters, transform, event: received }, { sandbox, scheduler, owner })
    },

    /** One event after the other, so that a batch takes no more of the machine than a single run. */
    async many(
      principal: Principal,
      sourceId: string,
      { filters, transform, events }: BatchInput,
    ): Promise<BatchResult> {
      await sources.get(principal, sourceId)
      const owner = principal.user.userId
      const endsAt = clock.now() + MAX_BATCH_MS
      const listed =
        'last' in events
          ? (await stores.events.listBySource(sourceId, { limit: events.last })).items
          : undefined
      const eventIds = 'eventIds' in events ? events.eventIds : undefined
      const ids = eventIds ?? listed?.map(({ eventId }) => eventId) ?? []
      const runs: BatchedRun[] = []
      for (const [index, eventId] of ids.entries()) {
        if (clock.now() > endsAt) return { runs, isComplete: false }
        const event = listed?.[index] ?? (await findEvent(eventId, sourceId))
        const received = event && (await toReceived(event))
        const result =
          received &&
          (await dryRun(
            { filter: filters, transform, event: received },
            { sandbox, scheduler, owner },
          ))
        runs.push({
          eventId,
          event: event && { receivedAt: event.receivedAt, eventType: event.eventType },
          result: result && withoutBody(result),
        })
      }
      return { runs, isComplete: true }
    },
  }
}

function withoutBody(result: DryRunResult): BatchedResult {
  switch (result.outcome) {
    case 'filtered':
    case 'dropped':
      return { outcome: result.outcome, reason: result.reason }
    case 'failed':
      return { outcome: 'failed', error: result.error }
    case 'delivered':
      return { outcome: 'delivered' }
  }
}
