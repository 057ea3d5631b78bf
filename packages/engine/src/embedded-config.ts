/**
 * How clients of the AWS SDK reach what runs in their own process. The SDK itself is not imported:
 * what it wants of a handler and of a signer is small enough to be written down here.
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

/** What a client needs to talk to something embedded. */
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

/** `respond` is handed each request of a client, and throws what the client shall throw. */
export function embeddedConfig(
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

/** The name by which the SDK knows an aborted request. */
function abortError(): Error {
  const error = new Error('Request aborted')
  error.name = 'AbortError'
  return error
}
