/** Shows what a filter and a transform would do to an event, without delivering it. */
import { newId } from '@strongroom/kit/ids'
import type { Clock } from '@strongroom/platform/clock'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { Filter } from '../filters/filter.ts'
import { matchFilter } from '../filters/match.ts'
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
  const { matched, reason } = await options.scheduler.run(options.owner, (budget) =>
    matchFilter(filter, event, budget),
  )
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

export type SourceDryRun = (
  principal: Principal,
  sourceId: string,
  input: SourceDryRunInput,
) => Promise<DryRunResult>

/** A dry run for a source of the principal. */
export function createSourceDryRun(deps: {
  stores: Pick<Stores, 'events'>
  sources: Pick<SourceService, 'get'>
  sandbox: Sandbox
  scheduler: WorkScheduler
  clock: Clock
}): SourceDryRun {
  const { stores, sources, sandbox, scheduler, clock } = deps

  async function storedEvent(eventId: string, sourceId: string): Promise<ReceivedEvent> {
    const event = await stores.events.getConsistent(eventId)
    const body = event?.sourceId === sourceId ? await stores.events.getBody(event) : null
    if (!event || !body) throw ferryhookError('event_not_found')
    const headers = JSON.parse(event.headers) as ReceivedEvent['headers']
    const { receivedAt, method, query, contentType } = event
    return { id: eventId, receivedAt, method, headers, query, body, contentType }
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

  return async (principal, sourceId, { filters, transform, event }) => {
    await sources.get(principal, sourceId)
    const received =
      'eventId' in event ? await storedEvent(event.eventId, sourceId) : sampleEvent(event.sample)
    const owner = principal.user.userId
    return dryRun({ filter: filters, transform, event: received }, { sandbox, scheduler, owner })
  }
}
