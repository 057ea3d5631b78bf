/** Actions of an owner on a pending delivery. */
import { ApiError } from '@strongroom/kit/errors'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { AuditAction } from '../accounts/audit/item.ts'
import type { Audited } from '../accounts/audit/store.ts'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import { isFirstAttempted } from '../events/current-status.ts'
import type { EventService } from '../events/service.ts'
import type { LocalEvents } from '../local-events.ts'
import type { Stores } from '../stores.ts'
import type { ActionRejected, ActionResult, DeliveryId } from './actions.ts'
import type { Delivery } from './item.ts'
import { type DeliveryState, isPending } from './state.ts'

const rejections = {
  not_found: 'delivery_not_found',
  run_ended: 'delivery_ended',
  in_progress: 'delivery_in_progress',
} as const satisfies Record<ActionRejected['kind'], string>

export const deliveryActions = ['hold', 'release', 'retry', 'cancel'] as const
export type DeliveryAction = (typeof deliveryActions)[number]

/** The deliveries that changed, and the first error. */
export interface EventActionResult {
  eventId: string
  deliveries: Delivery[]
  error: ApiError | undefined
}

/** Each event may have 50 deliveries, and each takes a transaction. */
const EVENT_CONCURRENCY = 5

export function createDeliveryService(deps: {
  stores: Pick<Stores, 'deliveryActions' | 'deliveries' | 'connections' | 'rateLimits'>
  eventService: Pick<EventService, 'get'>
  localEvents: Pick<LocalEvents, 'workDue'>
}) {
  const { stores, eventService, localEvents } = deps
  const actions = stores.deliveryActions

  async function act(
    principal: Principal,
    { eventId }: DeliveryId,
    action: AuditAction,
    change: (logged: Audited) => Promise<ActionResult>,
  ): Promise<Delivery> {
    await eventService.get(principal, eventId)
    const result = await change({ by: { actor: principal.actor, action } })
    if (result.kind !== 'changed') throw ferryhookError(rejections[result.kind])
    localEvents.workDue()
    return result.delivery
  }

  /** A paused connection would hold the delivery again. */
  async function requireActiveConnection(id: DeliveryId): Promise<Delivery> {
    const found = await actions.find(id)
    if (found.kind !== 'found') throw ferryhookError(rejections[found.kind])
    const { delivery } = found
    const connection = await stores.connections.get(id.connectionId, delivery.sourceId)
    if (connection?.status === 'paused') throw ferryhookError('connection_paused')
    return delivery
  }

  const one = {
    hold: (principal: Principal, id: DeliveryId): Promise<Delivery> =>
      act(principal, id, 'delivery.held', (logged) => actions.hold(id, logged)),

    release: (principal: Principal, id: DeliveryId): Promise<Delivery> =>
      act(principal, id, 'delivery.released', async (logged) => {
        const { state } = await requireActiveConnection(id)
        if (state !== 'held') throw ferryhookError('delivery_not_held')
        return actions.attemptNow(id, logged)
      }),

    retry: (principal: Principal, id: DeliveryId): Promise<Delivery> =>
      act(principal, id, 'delivery.retried', async (logged) => {
        await requireActiveConnection(id)
        return actions.attemptNow(id, logged)
      }),

    cancel: (principal: Principal, id: DeliveryId): Promise<Delivery> =>
      act(principal, id, 'delivery.cancelled', (logged) => actions.cancel(id, logged)),
  } satisfies Record<DeliveryAction, unknown>

  /** Acts on every delivery of the event that has a suitable state. */
  async function actOnEvent(
    principal: Principal,
    action: DeliveryAction,
    eventId: string,
  ): Promise<EventActionResult> {
    const deliveries: Delivery[] = []
    let error: ApiError | undefined
    const attempt = async (work: () => Promise<void>) => {
      try {
        await work()
      } catch (caught) {
        if (!(caught instanceof ApiError)) throw caught
        error ??= caught
      }
    }
    await attempt(async () => {
      const event = await eventService.get(principal, eventId)
      if (isFirstAttempted(event)) throw ferryhookError('delivery_in_progress')
      const all = await stores.deliveries.listByEvent(eventId)
      const suitable = all.filter(({ state }) => isSuitable[action](state))
      if (suitable.length === 0) throw ferryhookError(unsuitable[action])
      for (const { connectionId } of suitable) {
        await attempt(async () => {
          deliveries.push(await one[action](principal, { eventId, connectionId }))
        })
      }
    })
    return { eventId, deliveries, error }
  }

  return {
    ...one,

    /** Each event succeeds or fails by itself. */
    async actOnEvents(
      principal: Principal,
      action: DeliveryAction,
      eventIds: readonly string[],
    ): Promise<EventActionResult[]> {
      const decision = await stores.rateLimits.take('bulk', principal.user.userId)
      if (!decision.admitted) throw rateLimited(decision)
      const ids = [...new Set(eventIds)]
      const results: EventActionResult[] = []
      while (results.length < ids.length) {
        const next = ids.slice(results.length, results.length + EVENT_CONCURRENCY)
        results.push(...(await Promise.all(next.map((id) => actOnEvent(principal, action, id)))))
      }
      return results
    },
  }
}

const isSuitable: Readonly<Record<DeliveryAction, (state: DeliveryState) => boolean>> = {
  hold: (state) => isPending(state) && state !== 'held',
  release: (state) => state === 'held',
  retry: (state) => isPending(state) && state !== 'held',
  cancel: isPending,
}

const unsuitable = {
  hold: 'delivery_ended',
  release: 'delivery_not_held',
  retry: 'delivery_ended',
  cancel: 'delivery_ended',
} as const satisfies Record<DeliveryAction, string>

export type DeliveryService = ReturnType<typeof createDeliveryService>
