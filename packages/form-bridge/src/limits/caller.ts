/** The caller of a request as it is stored: a keyed hash of its network instead of its address. */
import { createHmac } from 'node:crypto'
import { clientNetwork } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { Context } from 'hono'

const SECRET = 'form-bridge-addresses'

export interface Caller {
  client_ip: string
  user_agent: string
}

export type Callers = ReturnType<typeof createCallers>

export function createCallers(secrets: ServerSecrets) {
  /** `network` is for example `203.0.113.7` or `2001:db8::/64`. */
  async function networkId(network: string): Promise<string> {
    const { key } = await secrets.current(SECRET)
    return `ip_${createHmac('sha256', key).update(network).digest('base64url').slice(0, 22)}`
  }

  return {
    networkId,

    async fromRequest<E extends AppEnv>(c: Context<E>): Promise<Caller> {
      const client_ip = await networkId(clientNetwork(c))
      return { client_ip, user_agent: c.req.header('user-agent') ?? '' }
    },
  }
}
