/** What the owner of an event may do with a delivery of it that waits. */
import type { Notices } from '../accounts/notices.ts'
import type { Principal } from '../auth/principal.ts'
import type { Logged } from '../db/audit.ts'
import type { DataLayer } from '../db/data-layer.ts'
import type { DeliveryName } from '../db/delivery-control.ts'
import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'
import type { AuditAction } from '../items/account-trail.ts'
import type { Delivery } from '../items/delivery.ts'
import type { EventBook } from './event-book.ts'

export function createDeliveryDesk(deps: {
  layer: Pick<DataLayer, 'deliveryControl' | 'connections'>
  eventBook: Pick<EventBook, 'get'>
  notices: Pick<Notices, 'workDue'>
}) {
  const { layer, eventBook, notices } = deps
  const control = layer.deliveryControl

  async function act(
    principal: Principal,
    { eventId }: DeliveryName,
    action: AuditAction,
    change: (logged: Logged) => Promise<Delivery>,
  ): Promise<Delivery> {
    await eventBook.get(principal, eventId)
    const changed = await change({ by: { actor: principal.actor, action } }).catch(inOurWords)
    notices.workDue()
    return changed
  }

  /** Of a paused connection it would only be held again. */
  async function requireGoing(name: DeliveryName): Promise<Delivery> {
    const { delivery } = await control.find(name)
    const connection = await layer.connections.get(name.connectionId, delivery.sourceId)
    if (connection?.status === 'paused') throw ferryhookError('connection_paused')
    return delivery
  }

  return {
    hold: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.held', (logged) => control.hold(name, logged)),

    release: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.released', async (logged) => {
        const { state } = await requireGoing(name)
        if (state !== 'held') throw ferryhookError('delivery_not_held')
        return control.attemptNow(name, logged)
      }),

    retry: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.retried', async (logged) => {
        await requireGoing(name)
        return control.attemptNow(name, logged)
      }),

    cancel: (principal: Principal, name: DeliveryName): Promise<Delivery> =>
      act(principal, name, 'delivery.cancelled', (logged) => control.cancel(name, logged)),
  }
}

export type DeliveryDesk = ReturnType<typeof createDeliveryDesk>

function inOurWords(error: unknown): never {
  if (!(error instanceof Refused)) throw error
  if (error.reason === 'not_found') throw ferryhookError('delivery_not_found')
  if (error.reason === 'run_ended') throw ferryhookError('delivery_ended')
  throw error.reason === 'in_progress' ? ferryhookError('delivery_in_progress') : error
}
