/**
 * The AWS SDK's own client on an engine in this process: `new DynamoDBClient({ ...embedded(engine) })`,
 * and likewise a DynamoDBStreamsClient.
 *
 * Requests go from the SDK's serializer straight to the engine; there is no socket, no signature and
 * no region to look up. The SDK itself is not imported: what it wants of a handler and of a signer is
 * small enough to be written down here.
 */
import type { Engine } from './engine.ts'
import { DynamoError, serializationError } from './errors.ts'
import { operationOf } from './operations/targets.ts'
import { wireFailure } from './operations/wire-failure.ts'

interface SdkRequest {
  headers: Record<string, string>
  body?: unknown
}

interface SdkResponse {
  statusCode: number
  reason: string
  headers: Record<string, string>
  body: Uint8Array
}

interface HandlerOptions {
  abortSignal?: { readonly aborted: boolean }
}

interface AuthScheme {
  schemeId: string
  identityProvider(): () => Promise<object>
  signer: { sign<T>(request: T): Promise<T> }
}

const NO_AUTH: AuthScheme = {
  schemeId: 'smithy.api#noAuth',
  identityProvider: () => async () => ({}),
  signer: { sign: async (request) => request },
}

/** What a client needs to talk to the engine. */
export interface EmbeddedConfig {
  region: string
  endpoint: string
  credentials: { accessKeyId: string; secretAccessKey: string }
  /** Requests do not leave the process, so signing them would only cost time: a third of a call. */
  httpAuthSchemes: AuthScheme[]
  httpAuthSchemeProvider(): { schemeId: string }[]
  requestHandler: {
    metadata: { handlerProtocol: string }
    handle(request: SdkRequest, options?: HandlerOptions): Promise<{ response: SdkResponse }>
    updateHttpClientConfig(): void
    httpHandlerConfigs(): object
    destroy(): void
  }
}

export function embedded(engine: Engine): EmbeddedConfig {
  return {
    region: engine.region,
    endpoint: 'http://embedded.localhost',
    credentials: { accessKeyId: 'embedded', secretAccessKey: 'embedded' },
    httpAuthSchemes: [NO_AUTH],
    httpAuthSchemeProvider: () => [{ schemeId: NO_AUTH.schemeId }],
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      async handle(request, { abortSignal } = {}) {
        if (abortSignal?.aborted) throw abortError()
        return { response: await respond(engine, request) }
      },
      updateHttpClientConfig() {},
      httpHandlerConfigs: () => ({}),
      destroy() {},
    },
  }
}

async function respond(engine: Engine, { headers, body }: SdkRequest): Promise<SdkResponse> {
  try {
    const target = headers['x-amz-target'] ?? headers['X-Amz-Target'] ?? ''
    return response(200, await engine.handle(operationOf(target) ?? '', parsed(body)))
  } catch (error) {
    // A defect is shown as it is: client and engine are one program.
    if (!(error instanceof DynamoError)) throw error
    const failure = wireFailure(error)
    return response(failure.statusCode, JSON.stringify(failure.body))
  }
}

function parsed(body: unknown): unknown {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw serializationError('The request has no body')
  }
  if (typeof body === 'string') return JSON.parse(body)
  // The SDK's bytes pretend to be a string as well; a view on their memory does not wake that up.
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
}

function response(statusCode: number, body: string | Buffer): SdkResponse {
  return {
    statusCode,
    reason: statusCode === 200 ? 'OK' : 'Bad Request',
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: typeof body === 'string' ? Buffer.from(body) : body,
  }
}

/** The name by which the SDK knows an aborted request. */
function abortError(): Error {
  const error = new Error('Request aborted')
  error.name = 'AbortError'
  return error
}
