/** The response to every way of signing in. */
import { z } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { Clock } from '@strongroom/platform/clock'
import type { Context } from 'hono'
import type { Figures } from '../../usage/figures.ts'
import { refreshCookie } from '../browser.ts'
import type { CredentialService } from '../users/credential-service.ts'
import type { User } from '../users/item.ts'
import type { NoticeStore } from '../users/notice-store.ts'
import { toUserView, UserView } from '../users/view.ts'
import type { SessionTokens } from './service.ts'

export const SessionView = z
  .object({
    accessToken: z.string(),
    tokenType: z.literal('Bearer'),
    expiresIn: z.int().openapi({ description: 'Seconds' }),
    user: UserView,
    notices: z
      .array(
        z.discriminatedUnion('kind', [
          z.object({
            kind: z.literal('password_reset_offered'),
            operator: z.string(),
            at: z.string(),
          }),
          z.object({
            kind: z.literal('credentials_unconfirmed'),
            at: z.string(),
            apiKeys: z.int(),
            identities: z.int(),
          }),
        ]),
      )
      .openapi({
        description:
          'What the user should know: an operator created a password reset link in the last 30 days, or API keys and identities from before a reset wait for confirmation',
      }),
  })
  .openapi('FerryhookSession')

/** Sets the refresh token as a cookie, and returns the rest. */
export type SessionResponse = (
  c: Context<AppEnv>,
  session: SessionTokens,
) => Promise<z.infer<typeof SessionView>>

export function createSessionResponse(deps: {
  figures: Pick<Figures, 'user'>
  stores: { notices: NoticeStore }
  credentials: Pick<CredentialService, 'findUnconfirmed'>
  clock: Clock
}): SessionResponse {
  const { figures, clock } = deps

  async function noticesOf(user: User): Promise<z.infer<typeof SessionView>['notices']> {
    const offered = await deps.stores.notices.find(user.userId)
    const found = await deps.credentials.findUnconfirmed(user)
    return [
      ...(offered
        ? [{ kind: 'password_reset_offered' as const, operator: offered.operator, at: offered.at }]
        : []),
      ...(found
        ? [
            {
              kind: 'credentials_unconfirmed' as const,
              at: found.since,
              apiKeys: found.apiKeys.length,
              identities: found.identities.length,
            },
          ]
        : []),
    ]
  }

  return async (c, { accessToken, expiresIn, refreshToken, user }) => {
    if (refreshToken !== undefined) refreshCookie.set(c, refreshToken)
    return {
      accessToken,
      tokenType: 'Bearer',
      expiresIn,
      user: toUserView(await figures.user(user), clock.now()),
      notices: await noticesOf(user),
    }
  }
}
