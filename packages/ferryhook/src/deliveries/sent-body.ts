/**
 * The body that an attempt sent. It is not stored: without a transform it is the body of the event,
 * and otherwise it is derived again and shown only if its hash is the one that the attempt recorded.
 */
import { createHash } from 'node:crypto'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { Event } from '../events/item.ts'
import type { EventService } from '../events/service.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import type { Stores } from '../stores.ts'
import { applyTransform } from '../transforms/apply.ts'
import { Transform } from '../transforms/transform.ts'

export interface AttemptId {
  eventId: string
  connectionId: string
  number: number
  /** Defaults to the latest run with such an attempt. */
  run?: number | undefined
}

export type SentBody =
  | { origin: 'received' | 'transformed'; body: Uint8Array }
  | { origin: 'unknown'; reason: 'not_recorded' | 'transform_changed' }

export function hashOfBody(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url')
}

export function createSentBodies(deps: {
  stores: Pick<Stores, 'attempts' | 'connections'>
  eventService: Pick<EventService, 'get' | 'getBody'>
  sandbox: Sandbox
  scheduler: WorkScheduler
}) {
  const { stores, eventService, sandbox, scheduler } = deps

  /** With the present transform of the connection; undefined if it fails or is removed. */
  async function transformAgain(
    { user: { userId: owner } }: Principal,
    connectionId: string,
    event: Event,
    body: Uint8Array,
  ): Promise<Uint8Array | undefined> {
    const connection = await stores.connections.get(connectionId, event.sourceId)
    if (connection?.transform === undefined) return undefined
    const transform = Transform.safeParse(JSON.parse(connection.transform)).data
    if (!transform) return undefined
    const { eventId: id, receivedAt, method, query, contentType } = event
    const headers = JSON.parse(event.headers) as ReceivedEvent['headers']
    const received = { id, receivedAt, method, headers, query, body, contentType }
    const result = await applyTransform(transform, received, { sandbox, scheduler, owner })
    return result.kind === 'transformed' ? result.body : undefined
  }

  return {
    async get(principal: Principal, id: AttemptId): Promise<SentBody> {
      const event = await eventService.get(principal, id.eventId)
      const attempt = (await stores.attempts.listByEvent(id.eventId))
        .filter(({ connectionId }) => connectionId === id.connectionId)
        .filter(({ attemptNumber, run }) => attemptNumber === id.number && run === (id.run ?? run))
        .toSorted((a, b) => b.run - a.run)[0]
      if (!attempt) throw ferryhookError('attempt_not_found')
      const { requestHeaders, requestBodyHash } = attempt
      // Nothing was sent, or by a version that did not record it.
      if (requestHeaders === undefined) return { origin: 'unknown', reason: 'not_recorded' }
      const body = await eventService.getBody(principal, id.eventId)
      if (requestBodyHash === undefined) return { origin: 'received', body }
      const again = await transformAgain(principal, id.connectionId, event, body)
      return again && hashOfBody(again) === requestBodyHash
        ? { origin: 'transformed', body: again }
        : { origin: 'unknown', reason: 'transform_changed' }
    },
  }
}

export type SentBodies = ReturnType<typeof createSentBodies>
