/**
 * Sign-in through a provider. The identity at the provider identifies a user. An account with the same
 * e-mail address is the same person only if both the provider and Ferryhook have verified the address.
 */
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { Clock } from '@strongroom/platform/clock'
import * as oauth from 'openid-client'
import { ferryhookError, translate } from '../../errors.ts'
import { FORBIDDEN_NAME_CHARACTERS } from '../../storage/schemas.ts'
import type { Stores } from '../../stores.ts'
import { type Principal, toAccountError } from '../authentication.ts'
import { createSessionUser } from '../sessions/service.ts'
import { type OAuthProvider, oauthProviders, type User } from '../users/item.ts'
import type { SignUp } from '../users/signup.ts'
import type { AuthorizationRequest, Identity, IdentityProvider } from './provider.ts'
import { createSignInStates, type SignInState } from './state.ts'

export type IdentityProviders = Partial<Record<OAuthProvider, IdentityProvider>>

/** Long enough to type a password and a second factor. */
export const SIGN_IN_SECONDS = 600

interface StartOptions {
  invite?: string | undefined
  /** The signed-in user that the identity is linked to. */
  linkTo?: Principal
  /** The path of the page to open afterwards. */
  next?: string | undefined
}

interface FinishedSignIn {
  user: User
  isLinked: boolean
  next: string | undefined
}

export type SignInService = ReturnType<typeof createSignInService>

export function createSignInService(deps: {
  providers: IdentityProviders
  stores: Pick<Stores, 'users' | 'sessions'>
  secrets: ServerSecrets
  clock: Clock
  signUp: SignUp
  /** Whether this server verifies addresses. Without mail, none are matched. */
  sendsMail: boolean
}) {
  const { stores, signUp, sendsMail } = deps
  const sessionUser = createSessionUser(stores)
  const states = createSignInStates({ ...deps, lifetimeSeconds: SIGN_IN_SECONDS })

  function requireProvider(name: OAuthProvider): IdentityProvider {
    const provider = deps.providers[name]
    if (!provider) throw ferryhookError('provider_not_configured')
    return provider
  }

  async function findOrCreateUser(
    identity: Identity,
    { provider, invite }: SignInState,
  ): Promise<User> {
    const user = await stores.users.getByOAuth(provider, identity.id)
    if (user) return user
    const { email } = identity
    if (email === undefined) throw ferryhookError('email_unverified')
    const owner = sendsMail ? await stores.users.getByEmail(email) : null
    // An account that is linked to another identity of the provider stays as it is.
    if (owner?.emailVerifiedAt !== undefined && owner[`${provider}Id`] === undefined) {
      const actor = `user:${owner.userId}`
      const by = { actor, action: 'identity.linked', target: provider } as const
      return stores.users
        .linkByAddress(owner, provider, identity.id, { by })
        .catch(translate({ identity_taken: 'identity_taken', not_found: 'email_taken' }))
    }
    const name = cleanName(identity.name) || email.slice(0, 100)
    const newUser = { email, name, [`${provider}Id`]: identity.id, isEmailVerified: true }
    return signUp(() => newUser, invite).catch(async (error: unknown) => {
      // A concurrent sign-in of the same person may have created the user.
      const created = await stores.users.getByOAuth(provider, identity.id)
      if (created) return created
      throw error
    })
  }

  async function link(
    identity: Identity,
    provider: OAuthProvider,
    { userId, sessionId }: NonNullable<SignInState['linkTo']>,
  ): Promise<User> {
    // The session may have ended while the user was at the provider.
    const user = await sessionUser(userId, sessionId)
    if (!user) throw ferryhookError('session_ended')
    const by = { actor: `user:${userId}`, action: 'identity.linked', target: provider } as const
    return stores.users
      .update(userId, { [`${provider}Id`]: identity.id }, { by, expected: user })
      .catch(translate({ identity_taken: 'identity_taken', password_changed: 'session_ended' }))
      .catch(toAccountError)
  }

  return {
    /** The providers that this server has credentials for. */
    configured: oauthProviders.filter((name) => deps.providers[name] !== undefined),

    /** Returns the URL to redirect the browser to, and the state that it must bring back. */
    async start(
      name: OAuthProvider,
      redirectUri: string,
      { invite, linkTo, next }: StartOptions = {},
    ): Promise<{ url: string; state: string }> {
      const provider = requireProvider(name)
      const request: AuthorizationRequest = {
        state: oauth.randomState(),
        nonce: oauth.randomNonce(),
        codeVerifier: oauth.randomPKCECodeVerifier(),
        redirectUri,
      }
      const result = await provider.authorizationUrl(request)
      if (result.kind === 'unavailable') {
        throw ferryhookError('provider_unavailable', { cause: result.cause })
      }
      const state = await states.seal({
        ...request,
        provider: name,
        ...(invite !== undefined && { invite }),
        ...(next !== undefined && { next }),
        ...(linkTo?.sessionId !== undefined && {
          linkTo: { userId: linkTo.user.userId, sessionId: linkTo.sessionId },
        }),
      })
      return { url: result.url.href, state }
    },

    /** Returns the user, created if necessary; or the signed-in user, now linked to the identity. */
    async finish(
      name: OAuthProvider,
      response: URLSearchParams,
      sealedState: string | undefined,
    ): Promise<FinishedSignIn> {
      const provider = requireProvider(name)
      const state = sealedState === undefined ? undefined : await states.open(sealedState)
      // Without it, another browser started this sign-in.
      if (state?.provider !== name) throw ferryhookError('sign_in_failed')
      const result = await provider.identify(response, state)
      if (result.kind !== 'identified') {
        const code = result.kind === 'denied' ? 'sign_in_failed' : 'provider_unavailable'
        throw ferryhookError(code, { cause: result.cause })
      }
      const { identity } = result
      const { linkTo, next } = state
      if (linkTo) return { user: await link(identity, name, linkTo), isLinked: true, next }
      return { user: await findOrCreateUser(identity, state), isLinked: false, next }
    },

    async unlink(provider: OAuthProvider, { user, actor }: Principal): Promise<User> {
      const by = { actor, action: 'identity.unlinked', target: provider } as const
      return stores.users
        .unlink(user.userId, provider, { by })
        .catch(translate({ only_sign_in: 'only_sign_in' }))
        .catch(toAccountError)
    },
  }
}

/** Removes what a name must not contain: during a sign-in the user cannot correct it. */
function cleanName(name: string): string {
  return name
    .trim()
    .slice(0, 100)
    .replaceAll(new RegExp(`${FORBIDDEN_NAME_CHARACTERS.source}+`, 'gu'), ' ')
    .trim()
}
