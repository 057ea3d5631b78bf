/** How alerts reach a user: by a signed webhook, and by mail. */
import type { Clock } from '@strongroom/platform/clock'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { Mailer, MailResult } from '../mail/mailer.ts'
import { alertMail } from '../mail/templates.ts'
import { type SendResult, sendWebhook } from '../outbound/exchange.ts'
import type { SealedSecrets } from '../signing/sealed-secrets.ts'
import { activeSecrets } from '../signing/secret-list.ts'
import { signatureHeaders } from '../signing/signature.ts'
import type { Stores } from '../stores.ts'
import { toWebhookBody, type AlertMessage } from './alert.ts'
import type { AlertSettings } from './item.ts'

export interface ChannelDeps {
  stores: Pick<Stores, 'users' | 'rateLimits'>
  sealedSecrets: Pick<SealedSecrets, 'alertSecrets'>
  safeFetch: SafeFetch
  mailer: Mailer | undefined
  clock: Clock
  publicUrl: string
}

export type Channels = ReturnType<typeof createChannels>

export function createChannels(deps: ChannelDeps) {
  const { stores, sealedSecrets, safeFetch, mailer, clock, publicUrl } = deps

  return {
    /** Makes one attempt; undefined if the user has no webhook. */
    async webhook(settings: AlertSettings, message: AlertMessage): Promise<SendResult | undefined> {
      const { webhookUrl } = settings
      if (webhookUrl === undefined) return undefined
      const body = new TextEncoder().encode(toWebhookBody(message))
      const now = clock.now()
      const secrets = activeSecrets(await sealedSecrets.alertSecrets(settings), now)
      const signed = signatureHeaders({ eventId: message.id, body, secrets, now })
      const headers = { 'content-type': 'application/json', ...signed }
      return sendWebhook({ fetcher: safeFetch, clock }, webhookUrl, {
        method: 'POST',
        headers,
        body,
      })
    },

    /** Sends to the current address of the account; undefined if there is none, or it got too many. */
    async mail({ userId }: AlertSettings, message: AlertMessage): Promise<MailResult | undefined> {
      const user = mailer && (await stores.users.getById(userId))
      if (!user) return undefined
      const { admitted } = await stores.rateLimits.take('mail', userId)
      if (!admitted) return undefined
      return mailer.send(alertMail(user.email, message, publicUrl))
    },
  }
}
