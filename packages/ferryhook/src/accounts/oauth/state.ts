/** The state of a sign-in, sealed in a cookie while the browser is at the provider. */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { EncryptJWT, errors, jwtDecrypt } from 'jose'
import * as z from 'zod'
import { oauthProviders } from '../users/item.ts'

const SignInState = z.object({
  provider: z.enum(oauthProviders),
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  redirectUri: z.string(),
  invite: z.string().optional(),
  /** The path of the page to open afterwards. */
  next: z.string().optional(),
  /** The session whose user links the identity to their account; absent for a sign-in. */
  linkTo: z.object({ userId: z.string(), sessionId: z.string() }).optional(),
})
export type SignInState = z.infer<typeof SignInState>

const SECRET = 'ferryhook-sign-in'

export function createSignInStates(deps: {
  secrets: ServerSecrets
  clock: Clock
  lifetimeSeconds: number
}) {
  const { secrets, clock, lifetimeSeconds } = deps

  return {
    async seal(state: SignInState): Promise<string> {
      const { version, key } = await secrets.current(SECRET)
      return new EncryptJWT({ ...state })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: String(version) })
        .setExpirationTime(epochSeconds(clock) + lifetimeSeconds)
        .encrypt(key)
    },

    /** Undefined unless this server sealed it and it has not expired. */
    async open(text: string): Promise<SignInState | undefined> {
      const accepted = await secrets.accepted(SECRET)
      try {
        const { payload } = await jwtDecrypt(
          text,
          ({ kid }) => {
            const secret = accepted.find(({ version }) => String(version) === kid)
            if (!secret) throw new errors.JWEDecryptionFailed()
            return secret.key
          },
          {
            keyManagementAlgorithms: ['dir'],
            contentEncryptionAlgorithms: ['A256GCM'],
            requiredClaims: ['exp'],
            currentDate: new Date(clock.now()),
          },
        )
        return SignInState.parse(payload)
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined
        throw error
      }
    },
  }
}
