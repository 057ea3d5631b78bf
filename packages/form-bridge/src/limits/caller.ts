/** The caller of a request as it is stored: a keyed hash of its network instead of its address. */
import { createHmac } from 'node:crypto'
import { clientNetworks } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { Context } from 'hono'
import type { RateAction } from './item.ts'

const SECRET = 'form-bridge-addresses'

export interface Caller {
  client_ip: string
  user_agent: string
  /** The /56 and the /48 of an IPv6 address, which limits count too. Not stored with anything else. */
  wider_networks: readonly CountedAddress[]
}

interface CountedAddress {
  client_ip: string
  /** How many times the limit of one client it allows. */
  factor: number
}

/** Everything that the requests of a caller count for, narrowest network first. */
export function callerSubjects<Scope extends RateAction>(
  scope: Scope,
  { client_ip, wider_networks }: Caller,
) {
  return [{ scope, client_ip }, ...wider_networks.map((wider) => ({ scope, ...wider }))]
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
      const [own, ...wider] = clientNetworks(c)
      const client_ip = await networkId(own.network)
      const wider_networks: CountedAddress[] = []
      for (const { network, factor } of wider) {
        wider_networks.push({ client_ip: await networkId(network), factor })
      }
      return { client_ip, user_agent: c.req.header('user-agent') ?? '', wider_networks }
    },
  }
}
