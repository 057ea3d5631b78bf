/** Tickets: each allows its holder to do something once, such as to sign up. */
import { createHash } from 'node:crypto'
import type { TransactWriteItem } from '@strongroom/kit/db'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { randomToken } from '@strongroom/kit/ids'
import { transact } from '@strongroom/kit/transact'
import { epochSeconds } from '@strongroom/platform/clock'
import * as z from 'zod'
import { absent } from '../../storage/conditions.ts'
import { keyTemplate } from '../../storage/key-template.ts'
import { count, id, isoTime, seconds } from '../../storage/schemas.ts'
import { isoNow, unlessExpired } from '../../storage/time.ts'
import type { StoreDeps } from '../../stores.ts'
import { eventsTable } from '../../tables.ts'
import type { Audited, AuditWriter } from '../audit/store.ts'
import { oauthProviders } from '../users/item.ts'

export const ticketKey = keyTemplate({ PK: 'TICKET#{ticketHash}', SK: 'TICKET' })

export const TicketItem = z.object({
  ...ticketKey.fields,
  kind: z.enum(['invite', 'password_reset', 'email_verification', 'sign_in']),
  /** SHA-256 of the ticket, hexadecimal. The ticket itself is not stored. */
  ticketHash: z.string().regex(/^[0-9a-f]{64}$/),
  /** The user whose password may be set or whose address is verified. An invite has none. */
  userId: id('usr').optional(),
  /** SHA-256 of the address and password to replace, or of the address to verify: the ticket is invalid for others. */
  replaces: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** The provider of a sign-in that waits for the second factor; absent after a password. */
  provider: z.enum(oauthProviders).optional(),
  /** How often a second factor may be tried. */
  attemptsLeft: count.optional(),
  /** The operator, `mail` or `sign-in`. */
  createdBy: z.string().min(1).max(100),
  createdAt: isoTime,
  expiresAt: seconds,
})
export type Ticket = z.infer<typeof TicketItem>

/** A new ticket with its text, which cannot be shown again. */
export interface IssuedTicket {
  text: string
  ticket: Ticket
}

export function createTicketStore({
  db,
  clock,
  audit,
}: Pick<StoreDeps, 'db' | 'clock'> & { audit: AuditWriter }) {
  const tickets = entity(db, eventsTable, TicketItem)

  return {
    async create(
      input: Pick<
        Ticket,
        'kind' | 'userId' | 'replaces' | 'createdBy' | 'provider' | 'attemptsLeft'
      > & {
        lifetimeSeconds: number
      },
      { by, extraParts = [] }: Audited & { extraParts?: TransactWriteItem[] } = {},
    ): Promise<IssuedTicket> {
      const text = randomToken(32)
      const ticketHash = hashTicket(text)
      const { userId } = input
      const ticket: Ticket = {
        ...ticketKey.of({ ticketHash }),
        kind: input.kind,
        ticketHash,
        ...(userId !== undefined && { userId }),
        ...(input.replaces !== undefined && { replaces: input.replaces }),
        ...(input.provider !== undefined && { provider: input.provider }),
        ...(input.attemptsLeft !== undefined && { attemptsLeft: input.attemptsLeft }),
        createdBy: input.createdBy,
        createdAt: isoNow(clock),
        expiresAt: epochSeconds(clock) + input.lifetimeSeconds,
      }
      await transact(db, [
        tickets.part.put(ticket, absent),
        ...extraParts,
        ...(userId === undefined ? [] : audit.parts(by, { userId })),
      ])
      return { text, ticket }
    },

    async get(kind: Ticket['kind'], text: string): Promise<Ticket | null> {
      const found = await tickets.get(ticketKey.of({ ticketHash: hashTicket(text) }))
      const ticket = unlessExpired(clock, found)
      return ticket?.kind === kind ? ticket : null
    },

    /** Counts an attempt; false if none is left. */
    countAttempt({ ticketHash }: Pick<Ticket, 'ticketHash'>): Promise<boolean> {
      const left = tickets.attr('attemptsLeft')
      return conditionHeld(
        tickets.change(
          ticketKey.of({ ticketHash }),
          expr`SET ${left} = ${left} - ${1}`,
          expr`${left} > ${0} AND ${tickets.attr('expiresAt')} > ${epochSeconds(clock)}`,
        ),
      )
    },

    /** Part of the transaction that the ticket allows: it succeeds once. */
    usePart({ ticketHash }: Pick<Ticket, 'ticketHash'>): TransactWriteItem {
      const isValid = expr`${tickets.attr('expiresAt')} > ${epochSeconds(clock)}`
      return tickets.part.delete(ticketKey.of({ ticketHash }), isValid)
    },
  }
}

/** A ticket has 256 random bits, so it needs no slow hash. */
function hashTicket(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
