/** Operators as they are stored, and the credentials that their tokens and sessions are checked against. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { TransactWriteItem } from './db.ts'
import { randomToken } from './ids.ts'
import { serverTable } from './server-table.ts'

/** Each role includes the ones before it. */
export const operatorRoles = ['viewer', 'editor', 'admin'] as const
export const OperatorRole = z.enum(operatorRoles)
export type OperatorRole = z.infer<typeof OperatorRole>

export const OperatorItem = z.object({
  PK: z.string().startsWith('OPERATOR#'),
  SK: z.literal('TOKEN'),
  name: z.string(),
  tokenHash: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32),
  createdAt: z.number().int(),
  rotatedAt: z.number().int().optional(),
  /** Operators that were stored before there were roles are admins. */
  role: OperatorRole.optional(),
  /** The services that the operator is limited to; all if missing. */
  services: z.array(z.string()).min(1).optional(),
  expiresAt: z.number().int().optional(),
  /** To the minute. */
  lastUsedAt: z.number().int().optional(),
  /** Increases when all sessions of the operator end although its token stays. */
  sessionEpoch: z.number().int().optional(),
})
export type OperatorItem = z.infer<typeof OperatorItem>

/** Its revision is a condition of every write that could leave the server without an admin. */
export const AdminGuardItem = z.object({
  PK: z.literal('OPERATORS'),
  SK: z.literal('ADMINS'),
  revision: z.number().int(),
})

export interface Operator {
  name: string
  role: OperatorRole
  /** Undefined for all services. */
  services: readonly string[] | undefined
  createdAt: number
  rotatedAt: number | undefined
  expiresAt: number | undefined
  lastUsedAt: number | undefined
}

export function toOperator(item: OperatorItem): Operator {
  const { name, role = 'admin', services, createdAt, rotatedAt, expiresAt, lastUsedAt } = item
  return { name, role, services, createdAt, rotatedAt, expiresAt, lastUsedAt }
}

/** An operator with the mark of its credentials: sessions that began with another mark have ended. */
export interface OperatorIdentity {
  operator: Operator
  mark: string
  tokenHash: Uint8Array
  sessionEpoch: number
}

export function toIdentity(item: OperatorItem): OperatorIdentity {
  const { tokenHash, sessionEpoch = 0 } = item
  return {
    operator: toOperator(item),
    mark: markOf(tokenHash, sessionEpoch),
    tokenHash,
    sessionEpoch,
  }
}

/** Tells credentials apart without being one. */
export function markOf(tokenHash: Uint8Array, sessionEpoch: number): string {
  return createHash('sha256').update(tokenHash).update(String(sessionEpoch)).digest('hex')
}

/** Where the second factors of an operator are, see `second-factor/item.ts`. */
export function secondFactorKey(name: string) {
  return { PK: `OPERATOR#${name}`, SK: 'SECOND_FACTOR' } as const
}

export function deleteSecondFactorPart(name: string): TransactWriteItem {
  return { Delete: { TableName: serverTable.name, Key: secondFactorKey(name) } }
}

export function operatorKey(name: string) {
  return { PK: `OPERATOR#${name}`, SK: 'TOKEN' } as const
}

/** A token contains the name, so that verifying it is one read by key. */
const TOKEN = /^sro_([a-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})$/

export function nameInToken(token: string): string | undefined {
  return TOKEN.exec(token)?.[1]
}

export function newToken(name: string) {
  const token = `sro_${name}.${randomToken(32)}`
  return { token, tokenHash: hashToken(token) }
}

/** The token has 256 random bits, so a fast hash is as safe as a slow one. */
export function hashToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}
