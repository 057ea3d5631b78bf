/** Limits what networks and people may try; who they are is not stored in clear. */
import { createHmac } from 'node:crypto'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { DataLayer } from '../db/data-layer.ts'
import type { RateScope } from '../db/rates.ts'

/** Throws `request.rate_limited`; whom it counts may be several things together. */
export type RateGuard = (scope: RateScope, ...whom: string[]) => Promise<void>

const SECRET = 'ferryhook-rates'

export function createRateGuard(deps: {
  layer: Pick<DataLayer, 'rates'>
  secrets: ServerSecrets
}): RateGuard {
  return async (scope, ...whom) => {
    const { key } = await deps.secrets.current(SECRET)
    // As JSON, so that no two lists run together.
    const id = createHmac('sha256', key).update(JSON.stringify(whom)).digest('base64url')
    const decision = await deps.layer.rates.take(scope, id)
    if (!decision.admitted) throw rateLimited(decision)
  }
}
