/** What is sent to a destination: the event as its transform makes it, signed. */
import type { Clock } from '@strongroom/kit/clock'
import type { SafeFetchRequest } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import type { ReceivedEvent } from '../filters/event.ts'
import { type DeliveryTask, isReplay } from '../items/task.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { outboundHeaders } from '../signing/outbound.ts'
import { applyTransform } from '../transforms/apply.ts'
import { TransformError } from '../transforms/error.ts'
import type { Destination } from './destination.ts'
import type { Exchange } from './exchange.ts'
import { forwardedHeaders, outgoingHeaders } from './outgoing-headers.ts'

export type Prepared =
  | { request: SafeFetchRequest }
  /** The transform says that it is not for this destination. */
  | { dropped: string }
  /** There is no room to transform it now. */
  | { crowded: true }
  /** It cannot be made: as an attempt that failed. */
  | { failed: Exchange }

/** Reading more of a response is no use to anybody; what is kept of it is far less. */
const MOST_RESPONSE_BYTES = 65_536

export async function prepareRequest(
  event: ReceivedEvent,
  destination: Destination,
  task: Pick<DeliveryTask, 'attemptNumber' | 'run' | 'replayId'>,
  { sandbox, clock, exchangeMs }: { sandbox: Sandbox; clock: Clock; exchangeMs: number },
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

    const secrets = await destination.secrets(clock.now()).catch(() => undefined)
    const custom = await destination.customHeaders().catch(() => undefined)
    if (!secrets || !custom) return failed('signing', 'The secrets cannot be opened', false)

    const bodyIsSame = transform === undefined || transform.type === 'passthrough'
    const { id: eventId, method } = event
    const headers = outgoingHeaders(
      forwardedHeaders(event.headers, { bodyIsSame }),
      { 'content-type': made.contentType ?? 'application/json' },
      made.headers ?? {},
      custom,
      { 'x-ferryhook-attempt': String(task.attemptNumber) },
      isReplay(task) ? { 'x-ferryhook-replay': task.replayId ?? 'true' } : {},
      { ...outboundHeaders({ eventId, body: made.body, secrets, now: clock.now() }) },
    )
    return {
      request: {
        method: method === 'PUT' ? 'PUT' : 'POST',
        headers,
        body: made.body,
        timeoutMs: exchangeMs,
        maxResponseBytes: MOST_RESPONSE_BYTES,
      },
    }
  } catch (error) {
    if (error instanceof SafeFetchError) return failed(error.reason, error.message, true)
    if (!(error instanceof TransformError)) throw error
    if (error.code === 'overloaded') return { crowded: true }
    return failed('transform', `${error.code}: ${error.message}`, !error.isPassing)
  }
}
