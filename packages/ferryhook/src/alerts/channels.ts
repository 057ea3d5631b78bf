/** The ways to a user: a signed webhook, and mail. */
import type { Clock } from '@strongroom/kit/clock'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import type { KeptSecrets } from '../accounts/kept-secrets.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { type Exchange, exchange } from '../delivery/exchange.ts'
import type { AlertSettings } from '../items/alert-settings.ts'
import type { Mailer } from '../mail/mailer.ts'
import { alertMail } from '../mail/mails.ts'
import { outboundHeaders } from '../signing/outbound.ts'
import { activeSecrets } from '../signing/secret-list.ts'
import { bodyOf, type Telling } from './telling.ts'

export interface ChannelDeps {
  layer: Pick<DataLayer, 'users' | 'rates'>
  kept: Pick<KeptSecrets, 'alertSecrets'>
  safeFetch: SafeFetch
  mailer: Mailer | undefined
  clock: Clock
  publicUrl: string
}

export type Channels = ReturnType<typeof createChannels>

export function createChannels(deps: ChannelDeps) {
  const { layer, kept, safeFetch, mailer, clock, publicUrl } = deps

  return {
    /** One attempt; undefined if there is no address. */
    async webhook(settings: AlertSettings, telling: Telling): Promise<Exchange | undefined> {
      const { webhookUrl } = settings
      if (webhookUrl === undefined) return undefined
      const body = new TextEncoder().encode(bodyOf(telling))
      const now = clock.now()
      const secrets = activeSecrets(await kept.alertSecrets(settings), now)
      const signed = outboundHeaders({ eventId: telling.id, body, secrets, now })
      const headers = { 'content-type': 'application/json', ...signed }
      return exchange({ fetcher: safeFetch, clock }, webhookUrl, { method: 'POST', headers, body })
    },

    /** To the address that the account has now, if there is one and it has not had too many. */
    async mail({ userId }: AlertSettings, telling: Telling): Promise<void> {
      const user = mailer && (await layer.users.getById(userId))
      if (!user) return
      const { admitted } = await layer.rates.take('mail', userId)
      if (admitted) await mailer.send(alertMail(user.email, telling, publicUrl))
    },
  }
}
