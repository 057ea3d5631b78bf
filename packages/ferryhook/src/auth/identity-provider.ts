/** Those who can say who somebody is: GitHub, and Google or another OpenID provider in its place. */
import type { Configuration } from 'openid-client'
import * as oauth from 'openid-client'

/** Who somebody is at a provider. */
export interface Identity {
  /** The provider's own, which never changes. */
  id: string
  name: string
  /** Undefined unless the provider has verified it: any other proves nothing. */
  email: string | undefined
}

/** What is remembered between leaving for the provider and coming back. */
export interface Handshake {
  state: string
  nonce: string
  codeVerifier: string
  redirectUri: string
}

export interface IdentityProvider {
  /** Where the browser goes to be asked. */
  authorizationUrl(handshake: Handshake): Promise<URL>
  /** Throws `NotConfirmed`, or `ProviderUnavailable`. */
  identify(answer: URLSearchParams, handshake: Handshake): Promise<Identity>
}

/** The provider, or the person, said no; or somebody made the answer up. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed'
}

export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

export const TIMEOUT_SECONDS = 10

/** What GitHub and OpenID providers have in common: the code grant with PKCE. */
export function codeGrant(options: {
  configuration(): Promise<Configuration>
  scope: string
  isOpenId: boolean
  identityOf(configuration: Configuration, tokens: Tokens): Promise<Identity>
}): IdentityProvider {
  const { scope, isOpenId, identityOf } = options
  let opened: Promise<Configuration> | undefined

  /** Asked for once; a failure is forgotten. */
  function configuration(): Promise<Configuration> {
    opened ??= options.configuration().catch((error: unknown) => {
      opened = undefined
      throw new ProviderUnavailable('Cannot find the provider', { cause: error })
    })
    return opened
  }

  return {
    async authorizationUrl({ state, nonce, codeVerifier, redirectUri }) {
      return oauth.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(isOpenId && { nonce }),
      })
    },

    async identify(answer, { state, nonce, codeVerifier, redirectUri }) {
      const config = await configuration()
      // Where the provider was told to send the browser, not where some proxy says it arrived.
      const arrived = new URL(redirectUri)
      arrived.search = answer.toString()
      try {
        const tokens = await oauth.authorizationCodeGrant(config, arrived, {
          expectedState: state,
          pkceCodeVerifier: codeVerifier,
          ...(isOpenId && { expectedNonce: nonce, idTokenExpected: true }),
        })
        return await identityOf(config, tokens)
      } catch (error) {
        if (error instanceof ProviderUnavailable) throw error
        const Reason = isUnreachable(error) ? ProviderUnavailable : NotConfirmed
        throw new Reason('Cannot identify somebody', { cause: error })
      }
    },
  }
}

export type Tokens = Awaited<ReturnType<typeof oauth.authorizationCodeGrant>>

/** What to do to a configuration; http is allowed only where the operator wrote it. */
export function customs(address: string): ((config: Configuration) => void)[] {
  return address.startsWith('http:') ? [oauth.allowInsecureRequests] : []
}

function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return true
  return error instanceof oauth.ClientError && error.code === 'OAUTH_TIMEOUT'
}
