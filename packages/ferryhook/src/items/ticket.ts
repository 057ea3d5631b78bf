/** A right to do something once, such as to sign up, that an operator handed to somebody. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { id, isoTime, seconds } from './values.ts'

export const ticketKey = keyTemplate({ PK: 'TICKET#{ticketHash}', SK: 'TICKET' })

export const TicketItem = z.object({
  ...ticketKey.fields,
  kind: z.enum(['invite', 'password_reset']),
  /** SHA-256 of the ticket, hexadecimal: the ticket itself is told once. */
  ticketHash: z.string().regex(/^[0-9a-f]{64}$/),
  /** Whose password may be set; an invite has no user yet. */
  userId: id('usr').optional(),
  /** SHA-256 of the address and password that it is to replace: it is for no others. */
  replaces: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** The operator. */
  createdBy: z.string().min(1).max(100),
  createdAt: isoTime,
  expiresAt: seconds,
})
export type Ticket = z.infer<typeof TicketItem>
