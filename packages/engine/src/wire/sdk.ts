/**
 * The AWS SDK's own client on an engine in this process: `new DynamoDBClient({ ...embedded(engine) })`,
 * and likewise a DynamoDBStreamsClient.
 *
 * Requests go directly from the SDK's serializer to the engine, without a socket, a signature or a region
 * lookup.
 */
import {
  type EmbeddedConfig,
  createEmbeddedConfig,
  type SdkRequest,
  type SdkResponse,
} from '@strongroom/platform/sdk-handler'
import type { Engine } from '../engine.ts'
import { DynamoError, serializationError } from '../errors.ts'
import { operationOf } from './targets.ts'
import { wireFailure } from './failure.ts'
import { release } from '../operations/wire-page.ts'

export function embedded(engine: Engine): EmbeddedConfig {
  return createEmbeddedConfig(engine.region, (request) => respond(engine, request))
}

async function respond(engine: Engine, { headers, body }: SdkRequest): Promise<SdkResponse> {
  try {
    const target = headers['x-amz-target'] ?? headers['X-Amz-Target'] ?? ''
    return response(200, await engine.handle(operationOf(target) ?? '', parseBody(body)))
  } catch (error) {
    // A defect is thrown unchanged, because client and engine are one program.
    if (!(error instanceof DynamoError)) throw error
    const failure = wireFailure(error)
    return response(failure.statusCode, JSON.stringify(failure.body))
  }
}

function parseBody(body: unknown): unknown {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw serializationError('The request has no body')
  }
  if (typeof body === 'string') return JSON.parse(body)
  // The SDK's byte arrays convert themselves to strings; a view of their memory avoids that.
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
}

function response(statusCode: number, json: string | Buffer): SdkResponse {
  // The client may keep the bytes.
  const body = Buffer.from(json as Buffer)
  if (typeof json !== 'string') release(json)
  return {
    statusCode,
    reason: statusCode === 200 ? 'OK' : 'Bad Request',
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body,
  }
}
