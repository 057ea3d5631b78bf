/** How much of each kind of request is taken, unless an operator has said otherwise for one caller. */
import type { RateLimit } from '@strongroom/kit/sliding-window'
import type { RateScope } from '../items/rate.ts'
import type { FormBridgeSettings } from '../settings.ts'

export type Limits = [RateLimit, ...RateLimit[]]

const minute = (limit: number): RateLimit => ({ name: 'minute', limit, windowSeconds: 60 })
const fiveMinutes = (limit: number): RateLimit => ({ name: 'minutes', limit, windowSeconds: 300 })
const hour = (limit: number): RateLimit => ({ name: 'hour', limit, windowSeconds: 3600 })
const day = (limit: number): RateLimit => ({ name: 'day', limit, windowSeconds: 86_400 })

export function generalLimits(
  settings: Pick<FormBridgeSettings, 'FORM_BRIDGE_API_LIMIT' | 'FORM_BRIDGE_REGISTRATION_LIMIT'>,
): Record<RateScope, Limits> {
  const api = settings.FORM_BRIDGE_API_LIMIT
  return {
    api: [minute(api), hour(20 * api), day(100 * api)],
    webhook: [minute(api), hour(20 * api), day(100 * api)],
    update_check: [minute(10), hour(100), day(500)],
    registration: [fiveMinutes(settings.FORM_BRIDGE_REGISTRATION_LIMIT)],
    // Of an address that gives wrong keys; who has the right one is not counted here.
    key_exchange: [minute(30), hour(300)],
    validation: [minute(20), hour(200)],
    // Of one domain by one address: a stranger who names a domain uses up nothing of its owner's.
    registration_domain: [fiveMinutes(10), hour(30)],
    // What makes the server ask a host: proofs by all ways, and checks, whoever wants them. Then
    // each address still has one way at a time, as often as its share says.
    validation_domain: [minute(10), hour(60)],
    validation_share: [minute(30), hour(300)],
    agency: [minute(300), hour(6000)],
  }
}
