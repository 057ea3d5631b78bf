import { createHash } from 'node:crypto'
import { epochSeconds } from '@strongroom/kit/clock'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { entity, transact } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { randomToken } from '@strongroom/kit/ids'
import { type Ticket, TicketItem, ticketKey } from '../items/ticket.ts'
import { eventsTable } from '../table.ts'
import type { AuditParts, Logged } from './audit.ts'
import type { DataLayerDeps } from './deps.ts'
import { isoNow, live } from './times.ts'

export function createTickets({
  db,
  clock,
  audit,
}: Pick<DataLayerDeps, 'db' | 'clock'> & { audit: AuditParts }) {
  const tickets = entity(db, eventsTable, TicketItem)

  return {
    /** The ticket as text is told here and never again. */
    async create(
      input: Pick<Ticket, 'kind' | 'userId' | 'replaces' | 'createdBy'> & {
        lifetimeSeconds: number
      },
      { by }: Logged = {},
    ): Promise<{ text: string; ticket: Ticket }> {
      const text = randomToken(32)
      const ticketHash = hashTicket(text)
      const ticket: Ticket = {
        ...ticketKey.of({ ticketHash }),
        kind: input.kind,
        ticketHash,
        ...(input.userId !== undefined && { userId: input.userId }),
        ...(input.replaces !== undefined && { replaces: input.replaces }),
        createdBy: input.createdBy,
        createdAt: isoNow(clock),
        expiresAt: epochSeconds(clock) + input.lifetimeSeconds,
      }
      const { userId } = input
      await transact(db, [
        tickets.part.put(ticket, expr`attribute_not_exists(${tickets.attr('PK')})`),
        ...(userId === undefined ? [] : audit.parts(by, { userId })),
      ])
      return { text, ticket }
    },

    async get(kind: Ticket['kind'], text: string): Promise<Ticket | null> {
      const found = await tickets.get(ticketKey.of({ ticketHash: hashTicket(text) }))
      const ticket = live(clock, found)
      return ticket?.kind === kind ? ticket : null
    },

    /** Part of the transaction that the ticket is for: of all who hold it at once, one gets through. */
    usePart({ ticketHash }: Pick<Ticket, 'ticketHash'>): TransactWriteItem {
      const inForce = expr`${tickets.attr('expiresAt')} > ${epochSeconds(clock)}`
      return tickets.part.delete(ticketKey.of({ ticketHash }), inForce)
    },
  }
}

/** A ticket has 256 random bits, so a plain hash is as good as a slow one. */
function hashTicket(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
