/** Sign-in through Google, or another OpenID provider in its place. */
import * as oauth from 'openid-client'
import * as z from 'zod'
import { codeGrant, customs, type IdentityProvider, TIMEOUT_SECONDS } from './identity-provider.ts'

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
  return codeGrant({
    scope: 'openid email profile',
    isOpenId: true,
    configuration: () =>
      oauth.discovery(new URL(issuer), clientId, clientSecret, undefined, {
        execute: customs(issuer),
        timeout: TIMEOUT_SECONDS,
      }),

    async identityOf(config, tokens) {
      const inToken = Claims.parse(tokens.claims())
      // Not every provider tells the address in the token.
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
