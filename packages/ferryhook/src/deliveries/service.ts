/** Actions of an owner on a pending delivery. */
import type { AuditAction } from '../accounts/audit/item.ts'
import type { Audited } from '../accounts/audit/store.ts'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { EventService } from '../events/service.ts'
import type { LocalEvents } from '../local-events.ts'
import type { Stores } from '../stores.ts'
import type { ActionRejected, ActionResult, DeliveryId } from './actions.ts'
import type { Delivery } from './item.ts'

const rejections = {
  not_found: 'delivery_not_found',
  run_ended: 'delivery_ended',
  in_progress: 'delivery_in_progress',
} as const satisfies Record<ActionRejected['kind'], string>

export function createDeliveryService(deps: {
  stores: Pick<Stores, 'deliveryActions' | 'connections'>
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

  return {
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
  }
}

export type DeliveryService = ReturnType<typeof createDeliveryService>
