/**
 * The AWS SDK's own client on a KMS in this process: `new KMSClient({ ...embedded(kms) })`.
 *
 * There is no socket and no signature: who has the object may use it. The SDK itself is not imported:
 * what it wants of a handler and of a signer is small enough to be written down here.
 */
import { KmsError } from './errors.ts'
import type { EmbeddedKms } from './kms.ts'
import { MasterKeyError } from './master-key-errors.ts'
import { CONTENT_TYPE, execute, type WireAnswer, wireFailure } from './protocol.ts'

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

/** What a client needs to talk to the KMS. */
export interface EmbeddedConfig {
  region: string
  endpoint: string
  credentials: { accessKeyId: string; secretAccessKey: string }
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

export function embedded(kms: EmbeddedKms): EmbeddedConfig {
  return {
    region: kms.region,
    endpoint: 'http://embedded.localhost',
    credentials: { accessKeyId: 'embedded', secretAccessKey: 'embedded' },
    httpAuthSchemes: [NO_AUTH],
    httpAuthSchemeProvider: () => [{ schemeId: NO_AUTH.schemeId }],
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      async handle(request, { abortSignal } = {}) {
        if (abortSignal?.aborted) throw abortError()
        return { response: respond(await answer(kms, request)) }
      },
      updateHttpClientConfig() {},
      httpHandlerConfigs: () => ({}),
      destroy() {},
    },
  }
}

async function answer(kms: EmbeddedKms, { headers, body }: SdkRequest): Promise<WireAnswer> {
  try {
    const target = headers['x-amz-target'] ?? headers['X-Amz-Target']
    return await execute(kms, target, bytesOf(body))
  } catch (error) {
    // A defect is shown as it is: client and KMS are one program.
    if (!(error instanceof KmsError) && !(error instanceof MasterKeyError)) throw error
    return wireFailure(error)
  }
}

/** The SDK hands over bytes; other handlers in between may have made text of them. */
function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : '')
}

function respond({ statusCode, body }: WireAnswer): SdkResponse {
  return {
    statusCode,
    reason: statusCode === 200 ? 'OK' : 'Bad Request',
    headers: { 'content-type': CONTENT_TYPE },
    body: Buffer.from(JSON.stringify(body)),
  }
}

/** The name by which the SDK knows an aborted request. */
function abortError(): Error {
  const error = new Error('Request aborted')
  error.name = 'AbortError'
  return error
}
