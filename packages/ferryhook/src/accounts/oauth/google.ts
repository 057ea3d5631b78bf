/** Sign-in through Google, or another OpenID provider in its place. */
import * as oauth from 'openid-client'
import * as z from 'zod'
import {
  createCodeGrant,
  type IdentityProvider,
  insecureOptions,
  TIMEOUT_SECONDS,
} from './provider.ts'

const Claims = z.object({
  sub: z.string().min(1).max(64),
  name: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
})

export function googleProvider(client: {
  issuer: string
  clientId: string
  clientSecret: string
}): IdentityProvider {
  const { issuer, clientId, clientSecret } = client
  return createCodeGrant({
    scope: 'openid email profile',
    isOpenId: true,
    loadConfiguration: () =>
      oauth.discovery(new URL(issuer), clientId, clientSecret, undefined, {
        execute: insecureOptions(issuer),
        timeout: TIMEOUT_SECONDS,
      }),

    async loadIdentity(config, tokens) {
      const inToken = Claims.parse(tokens.claims())
      // Some providers leave the address out of the token.
      const claims =
        inToken.email === undefined
          ? Claims.parse(await oauth.fetchUserInfo(config, tokens.access_token, inToken.sub))
          : inToken
      return {
        id: claims.sub,
        name: claims.name ?? '',
        email: claims.email_verified === true ? claims.email : undefined,
      }
    },
  })
}
