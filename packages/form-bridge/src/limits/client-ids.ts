/** Who is asking, as it is stored: a keyed hash of the network, never the address. */
import { createHmac } from 'node:crypto'
import type { AppEnv } from '@strongroom/kit/http/env'
import { clientNetwork } from '@strongroom/kit/http/client'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { Context } from 'hono'

const SECRET = 'form-bridge-addresses'

export interface Caller {
  client_ip: string
  user_agent: string
}

export function createCallers(secrets: ServerSecrets) {
  return {
    async of<E extends AppEnv>(c: Context<E>): Promise<Caller> {
      const client_ip = await this.idOf(clientNetwork(c))
      return { client_ip, user_agent: c.req.header('user-agent') ?? '' }
    },

    /** The id of a network such as `203.0.113.7` or `2001:db8::/64`. */
    async idOf(network: string): Promise<string> {
      const { key } = await secrets.current(SECRET)
      return `ip_${createHmac('sha256', key).update(network).digest('base64url').slice(0, 22)}`
    },
  }
}

export type Callers = ReturnType<typeof createCallers>
