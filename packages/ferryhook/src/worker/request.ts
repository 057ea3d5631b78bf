/** Builds the signed request of an attempt, after the transform. */
import type { Clock } from '@strongroom/platform/clock'
import type { Log } from '@strongroom/kit/log'
import type { SafeFetchRequest } from '@strongroom/kit/safe-fetch'
import { isUnreadable } from '@strongroom/kit/secret-box'
import type { AttemptResult } from '../deliveries/attempt-store.ts'
import { hashOfBody } from '../deliveries/sent-body.ts'
import type { IsCredentialHeader } from '../events/credential-headers.ts'
import type { ReceivedEvent } from '../filters/received-event.ts'
import { type DeliveryTask, isReplay } from '../queue/tasks.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { WorkScheduler } from '../sandbox/work-scheduler.ts'
import { eventMethods } from '../sources/values.ts'
import { signatureHeaders } from '../signing/signature.ts'
import { applyTransform } from '../transforms/apply.ts'
import type { Destination } from './destination.ts'
import type { SendResult } from '../outbound/exchange.ts'
import { forwardedHeaders, type HeaderFields, mergeHeaders } from '../outbound/headers.ts'
import { storedSentHeaders } from '../outbound/sent-headers.ts'
import { HOPS_HEADER, hopsOf } from '../outbound/hops.ts'

export type Prepared =
  /** `credentialHeaders` are the names of the connection's own headers; `sent` is for the attempt. */
  | { kind: 'ready'; request: SafeFetchRequest; credentialHeaders: string[]; sent: SentRequest }
  /** The transform dropped the event for this destination. */
  | { kind: 'dropped'; reason: string }
  /** The sandbox has no room now. */
  | { kind: 'busy' }
  | { kind: 'key_unavailable'; cause: unknown }
  /** Counts as a failed attempt. */
  | { kind: 'failed'; result: SendResult }

export type SentRequest = Pick<AttemptResult, 'requestHeaders' | 'requestBodyHash'>

/** Far more than is stored of a response. */
const MAX_RESPONSE_BYTES = 65_536

export async function prepareRequest(
  event: ReceivedEvent,
  destination: Destination,
  task: Pick<DeliveryTask, 'attemptNumber' | 'run' | 'replayId'>,
  {
    sandbox,
    scheduler,
    clock,
    attemptTimeoutMs,
    isCredentialHeader,
    log,
  }: {
    sandbox: Sandbox
    scheduler: WorkScheduler
    clock: Clock
    attemptTimeoutMs: number
    isCredentialHeader: IsCredentialHeader
    log: Log
  },
): Promise<Prepared> {
  const { connection } = destination
  const attemptedAt = clock.now()
  const failed = (end: SendResult['end'], error: string, isFinal: boolean): Prepared => ({
    kind: 'failed',
    result: {
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
  const { transform } = destination
  if (transform === 'invalid') {
    return failed('transform', 'invalid_code: The transform is invalid. Save it again.', true)
  }
  const transformed = await applyTransform(transform, event, {
    sandbox,
    scheduler,
    owner: connection.userId,
  })
  if (transformed.kind === 'dropped') return { kind: 'dropped', reason: transformed.reason }
  if (transformed.kind === 'failed') {
    const { code, message, isTransient } = transformed
    if (code === 'overloaded') return { kind: 'busy' }
    return failed('transform', `${code}: ${message}`, !isTransient)
  }

  const now = clock.now()
  const opened = await openSecrets(destination, now)
  if (opened.kind === 'key_unavailable') return opened
  if (opened.kind === 'unreadable') {
    // The owner sees what to do, the operator the cause.
    log.warn('secrets of a connection not decrypted. Check the key store.', { error: opened.error })
    return failed(
      'signing',
      'The secrets of the connection cannot be decrypted. Rotate them if this persists.',
      false,
    )
  }

  const { body } = transformed
  const isBodyUnchanged = transform === undefined || transform.type === 'passthrough'
  const headers = mergeHeaders(
    forwardedHeaders(event.headers, { isBodyUnchanged, isCredentialHeader }),
    { 'content-type': transformed.contentType ?? 'application/json' },
    transformed.headers ?? {},
    opened.custom,
    { 'x-ferryhook-attempt': String(task.attemptNumber) },
    { [HOPS_HEADER]: String(hopsOf(event.headers) + 1) },
    isReplay(task) ? { 'x-ferryhook-replay': task.replayId ?? 'true' } : {},
    { ...signatureHeaders({ eventId: event.id, body, secrets: opened.secrets, now }) },
  )
  // A destination may repeat them in its response.
  const credentials = Object.keys(opened.custom).map((name) => name.toLowerCase())
  const requestHeaders = storedSentHeaders(headers, event.headers, {
    isCredentialHeader,
    credentials,
  })
  return {
    kind: 'ready',
    request: {
      method: eventMethods.find((method) => method === event.method) ?? 'POST',
      headers,
      body,
      timeoutMs: attemptTimeoutMs,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    },
    credentialHeaders: credentials,
    sent: { requestHeaders, ...(!isBodyUnchanged && { requestBodyHash: hashOfBody(body) }) },
  }
}

type OpenedSecrets =
  | { kind: 'opened'; custom: HeaderFields; secrets: string[] }
  | { kind: 'unreadable'; error: unknown }
  | { kind: 'key_unavailable'; cause: unknown }

/** Any error that is not `isUnreadable` means that the keys are unavailable, see `SecretBox`. */
async function openSecrets(destination: Destination, now: number): Promise<OpenedSecrets> {
  try {
    const custom = await destination.customHeaders()
    return { kind: 'opened', custom, secrets: await destination.secrets(now) }
  } catch (error) {
    if (isUnreadable(error)) return { kind: 'unreadable', error }
    return { kind: 'key_unavailable', cause: error }
  }
}
