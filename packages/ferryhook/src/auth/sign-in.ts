/**
 * Sign-in through a provider. Somebody is known by their identity there and by nothing else: an
 * account with the same e-mail address may be anybody's, because addresses are not verified here.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import * as oauth from 'openid-client'
import type { SignUp } from '../accounts/signup.ts'
import { asUserGone } from '../accounts/user-gone.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { OAuthProvider, User } from '../items/user.ts'
import { unwritable } from '../items/values.ts'
import {
  type Handshake,
  type Identity,
  type IdentityProvider,
  NotConfirmed,
  ProviderUnavailable,
} from './identity-provider.ts'
import type { Principal } from './principal.ts'
import { createSessionUser } from './session-user.ts'
import { createSignInStates, type SignInState } from './sign-in-state.ts'

export type IdentityProviders = Partial<Record<OAuthProvider, IdentityProvider>>

/** Long enough to type a password and a second factor. */
export const SIGN_IN_SECONDS = 600

export interface SignIn {
  /** Where to send the browser, and what it must bring back. */
  start(
    provider: OAuthProvider,
    redirectUri: string,
    purpose?: { invite?: string | undefined; linkTo?: Principal },
  ): Promise<{ url: string; state: string }>
  /** The user who came back, made if need be; or who was signed in all along, and is linked now. */
  finish(
    provider: OAuthProvider,
    answer: URLSearchParams,
    state: string | undefined,
  ): Promise<{ user: User; isLinked: boolean }>
  unlink(provider: OAuthProvider, principal: Principal): Promise<User>
}

export function createSignIn(deps: {
  providers: IdentityProviders
  layer: Pick<DataLayer, 'users' | 'refreshTokens'>
  secrets: ServerSecrets
  clock: Clock
  signUp: SignUp
}): SignIn {
  const { providers, layer, signUp } = deps
  const sessionUser = createSessionUser(layer)
  const states = createSignInStates({ ...deps, lifetimeSeconds: SIGN_IN_SECONDS })

  function providerOf(name: OAuthProvider): IdentityProvider {
    const provider = providers[name]
    if (!provider) throw ferryhookError('provider_not_configured')
    return provider
  }

  async function userOf(identity: Identity, { provider, invite }: SignInState): Promise<User> {
    const known = await layer.users.getByOAuth(provider, identity.id)
    if (known) return known
    if (identity.email === undefined) throw ferryhookError('email_unverified')
    const name = nameIn(identity.name) || identity.email.slice(0, 100)
    const newUser = { email: identity.email, name, [`${provider}Id`]: identity.id }
    return signUp(() => newUser, invite).catch(async (error: unknown) => {
      // Somebody who signs in twice at once is known by now, and whatever was in the way is theirs.
      const made = await layer.users.getByOAuth(provider, identity.id)
      if (made) return made
      throw error
    })
  }

  async function link(
    identity: Identity,
    provider: OAuthProvider,
    { userId, sessionId }: NonNullable<SignInState['linkTo']>,
  ): Promise<User> {
    // Whoever was signed out meanwhile, such as by a new password, adds nothing any more.
    if (!(await sessionUser(userId, sessionId))) throw ferryhookError('session_ended')
    const by = { actor: `user:${userId}`, action: 'identity.linked', target: provider } as const
    return layer.users
      .update(userId, { [`${provider}Id`]: identity.id }, { by })
      .catch((error: unknown) => {
        const isTaken = error instanceof Refused && error.reason === 'identity_taken'
        if (isTaken) throw ferryhookError('identity_taken')
        return asUserGone(error)
      })
  }

  return {
    async start(name, redirectUri, { invite, linkTo } = {}) {
      const provider = providerOf(name)
      const handshake: Handshake = {
        state: oauth.randomState(),
        nonce: oauth.randomNonce(),
        codeVerifier: oauth.randomPKCECodeVerifier(),
        redirectUri,
      }
      const url = await provider.authorizationUrl(handshake).catch(rethrow)
      const state = await states.seal({
        ...handshake,
        provider: name,
        ...(invite !== undefined && { invite }),
        ...(linkTo?.sessionId !== undefined && {
          linkTo: { userId: linkTo.user.userId, sessionId: linkTo.sessionId },
        }),
      })
      return { url: url.href, state }
    },

    async finish(name, answer, sealed) {
      const provider = providerOf(name)
      const state = sealed === undefined ? undefined : await states.open(sealed)
      // Without it, this is the answer to a question that another browser asked.
      if (state?.provider !== name) throw ferryhookError('sign_in_failed')
      const identity = await provider.identify(answer, state).catch(rethrow)
      const { linkTo } = state
      const user = linkTo ? await link(identity, name, linkTo) : await userOf(identity, state)
      return { user, isLinked: linkTo !== undefined }
    },

    async unlink(name, { user, actor }) {
      const by = { actor, action: 'identity.unlinked', target: name } as const
      return layer.users.unlink(user.userId, name, { by }).catch((error: unknown) => {
        const isOnly = error instanceof Refused && error.reason === 'only_sign_in'
        if (isOnly) throw ferryhookError('only_sign_in')
        return asUserGone(error)
      })
    },
  }
}

function rethrow(error: unknown): never {
  if (error instanceof NotConfirmed) throw ferryhookError('sign_in_failed', { cause: error })
  if (error instanceof ProviderUnavailable) {
    throw ferryhookError('provider_unavailable', { cause: error })
  }
  throw error
}

/** What of it may be a name: nobody is there who could be told that theirs is refused. */
function nameIn(told: string): string {
  return told
    .trim()
    .slice(0, 100)
    .replaceAll(new RegExp(`${unwritable.source}+`, 'gu'), ' ')
    .trim()
}
