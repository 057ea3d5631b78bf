/** What is sent to a destination: the event as its transform makes it, signed. */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { SafeFetchRequest } from '@strongroom/kit/safe-fetch'
import type { ReceivedEvent } from '../filters/event.ts'
import { type DeliveryTask, isReplay } from '../items/task.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { outboundHeaders } from '../signing/outbound.ts'
import { applyTransform } from '../transforms/apply.ts'
import { TransformError } from '../transforms/error.ts'
import type { Destination } from './destination.ts'
import type { Exchange } from './exchange.ts'
import { KeysAway } from './keys-away.ts'
import { forwardedHeaders, type HeaderFields, outgoingHeaders } from './outgoing-headers.ts'

export type Prepared =
  | { request: SafeFetchRequest }
  /** The transform says that it is not for this destination. */
  | { dropped: string }
  /** There is no room to transform it now. */
  | { crowded: true }
  /** It cannot be signed now. */
  | { keyless: KeysAway }
  /** It cannot be made: as an attempt that failed. */
  | { failed: Exchange }

/** Reading more of a response is no use to anybody; what is kept of it is far less. */
const MOST_RESPONSE_BYTES = 65_536

export async function prepareRequest(
  event: ReceivedEvent,
  destination: Destination,
  task: Pick<DeliveryTask, 'attemptNumber' | 'run' | 'replayId'>,
  {
    sandbox,
    clock,
    exchangeMs,
    log,
  }: { sandbox: Sandbox; clock: Clock; exchangeMs: number; log: Log },
): Promise<Prepared> {
  const { connection } = destination
  const attemptedAt = clock.now()
  const failed = (end: Exchange['end'], error: string, isFinal: boolean): Prepared => ({
    failed: {
      attempt: {
        destinationUrl: connection.destinationUrl,
        statusCode: 0,
        latencyMs: 0,
        error,
        attemptedAt,
      },
      end,
      isFinal,
    },
  })
  try {
    const transform = destination.transform()
    const made = await applyTransform(transform, event, { sandbox, owner: connection.userId })
    if (made.dropped) return { dropped: made.reason }

    let custom: HeaderFields
    let signed: HeaderFields
    try {
      custom = await destination.customHeaders()
      signed = await signature(destination, event.id, made.body, clock.now())
    } catch (error) {
      if (error instanceof KeysAway) return { keyless: error }
      // The owner is told what they can do, the operator why.
      log.warn('The secrets of a connection cannot be used: see whether the keys can', { error })
      return failed(
        'signing',
        'The secrets of the connection cannot be used: rotate them if it stays so',
        false,
      )
    }

    const bodyIsSame = transform === undefined || transform.type === 'passthrough'
    const headers = outgoingHeaders(
      forwardedHeaders(event.headers, { bodyIsSame }),
      { 'content-type': made.contentType ?? 'application/json' },
      made.headers ?? {},
      custom,
      { 'x-ferryhook-attempt': String(task.attemptNumber) },
      isReplay(task) ? { 'x-ferryhook-replay': task.replayId ?? 'true' } : {},
      signed,
    )
    return {
      request: {
        method: event.method === 'PUT' ? 'PUT' : 'POST',
        headers,
        body: made.body,
        timeoutMs: exchangeMs,
        maxResponseBytes: MOST_RESPONSE_BYTES,
      },
    }
  } catch (error) {
    if (!(error instanceof TransformError)) throw error
    if (error.code === 'overloaded') return { crowded: true }
    return failed('transform', `${error.code}: ${error.message}`, !error.isPassing)
  }
}

/** Rejects if there is no secret that can be used: nothing goes out unsigned. */
async function signature(
  destination: Destination,
  eventId: string,
  body: Uint8Array,
  now: number,
): Promise<HeaderFields> {
  return { ...outboundHeaders({ eventId, body, secrets: await destination.secrets(now), now }) }
}
