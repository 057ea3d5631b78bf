/** What the owner of an event may do with a delivery of it that waits. */
import type { Audit, AuditAction } from '../accounts/audit-trail.ts'
import type { Notices } from '../accounts/notices.ts'
import type { Principal } from '../auth/principal.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { Delivery } from '../items/delivery.ts'
import type { EventBook } from './event-book.ts'

export interface DeliveryName {
  eventId: string
  connectionId: string
}

export function createDeliveryDesk(deps: {
  layer: Pick<DataLayer, 'deliveryControl' | 'connections'>
  eventBook: Pick<EventBook, 'get'>
  audit: Audit
  notices: Pick<Notices, 'workDue'>
}) {
  const { layer, eventBook, audit, notices } = deps
  const control = layer.deliveryControl

  async function act(
    principal: Principal,
    { eventId, connectionId }: DeliveryName,
    action: AuditAction,
    change: () => Promise<Delivery>,
  ): Promise<Delivery> {
    await eventBook.get(principal, eventId)
    const changed = await change().catch(inOurWords)
    await audit(principal.user.userId, principal.actor, action, `${eventId}/${connectionId}`)
    notices.workDue()
    return changed
  }

  /** Of a paused connection it would only be held again. */
  async function requireGoing({ eventId, connectionId }: DeliveryName): Promise<Delivery> {
    const { delivery } = await control.find(eventId, connectionId)
    const connection = await layer.connections.get(connectionId, delivery.sourceId)
    if (connection?.status === 'paused') throw ferryhookError('connection_paused')
    return delivery
  }

  return {
    hold: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.held', () => control.hold(name.eventId, name.connectionId)),

    release: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.released', async () => {
        const { state } = await requireGoing(name)
        if (state !== 'held') throw ferryhookError('delivery_not_held')
        return control.attemptNow(name.eventId, name.connectionId)
      }),

    retry: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.retried', async () => {
        await requireGoing(name)
        return control.attemptNow(name.eventId, name.connectionId)
      }),

    cancel: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.cancelled', () =>
        control.cancel(name.eventId, name.connectionId),
      ),
  }
}

export type DeliveryDesk = ReturnType<typeof createDeliveryDesk>

function inOurWords(error: unknown): never {
  if (!(error instanceof Refused)) throw error
  if (error.reason === 'not_found') throw ferryhookError('delivery_not_found')
  if (error.reason === 'run_ended') throw ferryhookError('delivery_ended')
  throw error.reason === 'in_progress' ? ferryhookError('delivery_in_progress') : error
}
