/** Actions of an owner on a pending delivery. */
import type { AuditAction } from '../accounts/audit/item.ts'
import type { Audited } from '../accounts/audit/store.ts'
import type { Principal } from '../accounts/authentication.ts'
import { ferryhookError } from '../errors.ts'
import type { EventService } from '../events/service.ts'
import type { LocalEvents } from '../local-events.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import type { Stores } from '../stores.ts'
import type { DeliveryId } from './actions.ts'
import type { Delivery } from './item.ts'

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
    change: (logged: Audited) => Promise<Delivery>,
  ): Promise<Delivery> {
    await eventService.get(principal, eventId)
    const changed = await change({ by: { actor: principal.actor, action } }).catch(toServiceError)
    localEvents.workDue()
    return changed
  }

  /** A paused connection would hold the delivery again. */
  async function requireActiveConnection(id: DeliveryId): Promise<Delivery> {
    const { delivery } = await actions.find(id)
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

function toServiceError(error: unknown): never {
  if (!(error instanceof WriteRejected)) throw error
  if (error.reason === 'not_found') throw ferryhookError('delivery_not_found')
  if (error.reason === 'run_ended') throw ferryhookError('delivery_ended')
  throw error.reason === 'in_progress' ? ferryhookError('delivery_in_progress') : error
}
