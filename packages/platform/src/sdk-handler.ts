/**
 * Connects clients of the AWS SDK with a service in the same process. The SDK is not imported; the parts
 * of its request handler and signer that matter are declared here.
 */

export interface SdkRequest {
  headers: Record<string, string>
  body?: unknown
}

export interface SdkResponse {
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

/** The settings of a client for an embedded service. */
export interface EmbeddedConfig {
  region: string
  endpoint: string
  credentials: { accessKeyId: string; secretAccessKey: string }
  /** Requests do not leave the process, and signing would take a third of a call. */
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

/** `respond` handles each request of the client; the client throws what it throws. */
export function createEmbeddedConfig(
  region: string,
  respond: (request: SdkRequest) => Promise<SdkResponse>,
): EmbeddedConfig {
  return {
    region,
    endpoint: 'http://embedded.localhost',
    credentials: { accessKeyId: 'embedded', secretAccessKey: 'embedded' },
    httpAuthSchemes: [NO_AUTH],
    httpAuthSchemeProvider: () => [{ schemeId: NO_AUTH.schemeId }],
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      async handle(request, { abortSignal } = {}) {
        if (abortSignal?.aborted) throw abortError()
        return { response: await respond(request) }
      },
      updateHttpClientConfig() {},
      httpHandlerConfigs: () => ({}),
      destroy() {},
    },
  }
}

/** The SDK recognises an aborted request by this name. */
function abortError(): Error {
  const error = new Error('Request aborted')
  error.name = 'AbortError'
  return error
}
