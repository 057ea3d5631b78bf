/** Identity providers: the OAuth code grant with PKCE, which GitHub and OpenID providers share. */
import type { Configuration } from 'openid-client'
import * as oauth from 'openid-client'

/** A user as the provider knows them. */
export interface Identity {
  /** The provider's id, which never changes. */
  id: string
  name: string
  /** Undefined unless the provider has verified it: any other address proves nothing. */
  email: string | undefined
}

/** What the browser's redirect to the provider and its return must agree on. */
export interface AuthorizationRequest {
  state: string
  nonce: string
  codeVerifier: string
  redirectUri: string
}

type Unavailable = { kind: 'unavailable'; cause: unknown }

export type AuthorizationUrl = { kind: 'ready'; url: URL } | Unavailable

export type IdentityResult =
  | { kind: 'identified'; identity: Identity }
  /** The user or the provider declined, or the response was forged. */
  | { kind: 'denied'; cause: unknown }
  | Unavailable

export interface IdentityProvider {
  /** Where to redirect the browser. */
  authorizationUrl(request: AuthorizationRequest): Promise<AuthorizationUrl>
  /** `response` is the query that the provider sent the browser back with. */
  identify(response: URLSearchParams, request: AuthorizationRequest): Promise<IdentityResult>
}

export type Tokens = Awaited<ReturnType<typeof oauth.authorizationCodeGrant>>

export const TIMEOUT_SECONDS = 10

export function createCodeGrant(options: {
  loadConfiguration(): Promise<Configuration>
  scope: string
  isOpenId: boolean
  /** Undefined if the provider returns something unexpected. */
  loadIdentity(configuration: Configuration, tokens: Tokens): Promise<Identity | undefined>
}): IdentityProvider {
  const { scope, isOpenId, loadIdentity } = options
  let loading: Promise<Configuration> | undefined

  /** Loaded once. A failure is not cached. */
  async function load(): Promise<{ kind: 'loaded'; configuration: Configuration } | Unavailable> {
    loading ??= options.loadConfiguration()
    try {
      return { kind: 'loaded', configuration: await loading }
    } catch (cause) {
      loading = undefined
      return { kind: 'unavailable', cause }
    }
  }

  return {
    async authorizationUrl({ state, nonce, codeVerifier, redirectUri }) {
      const loaded = await load()
      if (loaded.kind === 'unavailable') return loaded
      const url = oauth.buildAuthorizationUrl(loaded.configuration, {
        redirect_uri: redirectUri,
        scope,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(isOpenId && { nonce }),
      })
      return { kind: 'ready', url }
    },

    async identify(response, { state, nonce, codeVerifier, redirectUri }) {
      const loaded = await load()
      if (loaded.kind === 'unavailable') return loaded
      const { configuration } = loaded
      // The URL that the provider was given, not the one that a proxy reports.
      const callbackUrl = new URL(redirectUri)
      callbackUrl.search = response.toString()
      try {
        const tokens = await oauth.authorizationCodeGrant(configuration, callbackUrl, {
          expectedState: state,
          pkceCodeVerifier: codeVerifier,
          ...(isOpenId && { expectedNonce: nonce, idTokenExpected: true }),
        })
        const identity = await loadIdentity(configuration, tokens)
        if (identity) return { kind: 'identified', identity }
        return { kind: 'unavailable', cause: new Error('Unexpected response from the provider') }
      } catch (cause) {
        return { kind: isUnreachable(cause) ? 'unavailable' : 'denied', cause }
      }
    },
  }
}

/** Functions to apply to a configuration. http is allowed only if the operator configured it. */
export function insecureOptions(address: string): ((config: Configuration) => void)[] {
  return address.startsWith('http:') ? [oauth.allowInsecureRequests] : []
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return true
  return error instanceof oauth.ClientError && error.code === 'OAUTH_TIMEOUT'
}
