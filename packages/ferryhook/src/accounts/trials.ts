/** Trying things out: what a filter and a transform would do, and whether a destination answers. */
import type { Clock } from '@strongroom/kit/clock'
import { newId } from '@strongroom/kit/ids'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { Principal } from '../auth/principal.ts'
import type { AttemptResult } from '../db/attempts.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { type AttemptEnd, exchange } from '../delivery/exchange.ts'
import { outgoingHeaders } from '../delivery/outgoing-headers.ts'
import { ferryhookError } from '../errors.ts'
import type { ReceivedEvent } from '../filters/event.ts'
import type { Filter } from '../filters/filter.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { outboundHeaders } from '../signing/outbound.ts'
import { activeSecrets } from '../signing/secret-list.ts'
import { type DryRun, dryRun } from '../transforms/dry-run.ts'
import type { Transform } from '../transforms/transform.ts'
import type { Audit } from './audit-trail.ts'
import type { ConnectionBook } from './connections.ts'
import type { KeptSecrets } from './kept-secrets.ts'
import type { SourceBook } from './sources.ts'

export interface Sample {
  body: string
  headers?: Record<string, string> | undefined
  method?: string | undefined
  query?: string | undefined
  contentType?: string | undefined
}

export interface Trial {
  filters?: Filter | undefined
  transform?: Transform | undefined
  /** One that the source has received; otherwise a sample. */
  event: { eventId: string } | { sample: Sample }
}

export function createTrials(deps: {
  layer: Pick<DataLayer, 'events'>
  sources: Pick<SourceBook, 'get'>
  connections: Pick<ConnectionBook, 'get'>
  kept: KeptSecrets
  sandbox: Sandbox
  safeFetch: SafeFetch
  clock: Clock
  audit: Audit
}) {
  const { layer, sources, connections, kept, sandbox, safeFetch, clock, audit } = deps

  async function storedEvent(eventId: string, sourceId: string): Promise<ReceivedEvent> {
    const event = await layer.events.getCurrent(eventId)
    const body = event?.sourceId === sourceId ? await layer.events.getBody(event) : null
    if (!event || !body) throw ferryhookError('event_not_found')
    const headers = JSON.parse(event.headers) as ReceivedEvent['headers']
    const { receivedAt, method, query, contentType } = event
    return { id: eventId, receivedAt, method, headers, query, body, contentType }
  }

  function sampleEvent({ body, headers = {}, method = 'POST', ...rest }: Sample): ReceivedEvent {
    const given = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')
    return {
      id: newId('evt'),
      receivedAt: clock.now(),
      method,
      headers,
      query: rest.query,
      body: new TextEncoder().encode(body),
      contentType: rest.contentType ?? given?.[1] ?? 'application/json',
    }
  }

  return {
    async dryRun(
      principal: Principal,
      sourceId: string,
      { filters, transform, event }: Trial,
    ): Promise<DryRun> {
      await sources.get(principal, sourceId)
      const received =
        'eventId' in event ? await storedEvent(event.eventId, sourceId) : sampleEvent(event.sample)
      const owner = principal.user.userId
      return dryRun({ filter: filters, transform, event: received }, { sandbox, owner })
    },

    /** Sends an event of no source, signed as all are, and tells how it was answered. */
    async testDestination(
      principal: Principal,
      connectionId: string,
    ): Promise<{ end: AttemptEnd; attempt: AttemptResult }> {
      const connection = await connections.get(principal, connectionId)
      const now = clock.now()
      const eventId = newId('evt')
      const body = new TextEncoder().encode(
        JSON.stringify({
          type: 'ferryhook.test',
          id: eventId,
          sentAt: new Date(now).toISOString(),
        }),
      )
      const secrets = activeSecrets(await kept.connectionSecrets(connection), now)
      const headers = outgoingHeaders(
        { 'content-type': 'application/json' },
        await kept.customHeaders(connection),
        { ...outboundHeaders({ eventId, body, secrets, now }) },
      )
      await audit(principal.user.userId, principal.actor, 'connection.tested', connectionId)
      return exchange({ fetcher: safeFetch, clock }, connection.destinationUrl, {
        method: 'POST',
        headers,
        body,
      })
    },
  }
}

export type Trials = ReturnType<typeof createTrials>
