/** The items of the audit log of operators, and the hash chain that they form. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Clock } from '@strongroom/platform/clock'

export const RETENTION_SECONDS = 365 * 86_400
/** Months that may have entries: those of a year and the one that it began in. */
const MAX_MONTHS = 13
/** Twelve digits sort as text for as long as anyone can write entries. */
const SEQUENCE_DIGITS = 12

const Hash = z.string().regex(/^[0-9a-f]{64}$/)
const Month = z.string().regex(/^AUDIT#\d{4}-\d{2}$/)

export const auditOutcomes = ['started', 'done', 'failed'] as const

export const AuditLogItem = z.object({
  PK: Month,
  /** The sequence number, with leading zeros. */
  SK: z.string().regex(/^\d{12}$/),
  seq: z.number().int().positive(),
  at: z.string(),
  /** `operator:{name}`, or `local:{OS user}` for a command on the store. */
  actor: z.string(),
  action: z.string(),
  target: z.string().optional(),
  /** The client's address. A command on the store has none. */
  address: z.string().optional(),
  outcome: z.enum(auditOutcomes),
  /** Connects `started` with its `done` or `failed`. */
  operation: z.string().optional(),
  /** JSON, without secrets. */
  before: z.string().optional(),
  after: z.string().optional(),
  previousHash: Hash,
  hash: Hash,
  expiresAt: z.number().int(),
})
export type AuditLogItem = z.infer<typeof AuditLogItem>

export const AuditHeadItem = z.object({
  PK: Month,
  SK: z.literal('HEAD'),
  seq: z.number().int().positive(),
  hash: Hash,
  expiresAt: z.number().int(),
})

/** The hash before the first entry of a month. */
export const FIRST_HASH = '0'.repeat(64)

export function sortKeyOf(seq: number): string {
  return String(seq).padStart(SEQUENCE_DIGITS, '0')
}

/** Over all stored attributes, in a fixed order. */
export function entryHash(item: Omit<AuditLogItem, 'hash'>): string {
  const { PK, seq, previousHash, at, actor, action, target, address, outcome } = item
  const { operation, before, after, expiresAt } = item
  const fields = [PK, seq, previousHash, at, actor, action, target, address, outcome, operation]
  const text = JSON.stringify([...fields, before, after, expiresAt].map((field) => field ?? null))
  return createHash('sha256').update(text).digest('hex')
}

export function monthName(PK: string): string {
  return PK.slice('AUDIT#'.length)
}

/** The partitions that may have entries, newest first. */
export function monthsOf(
  clock: Clock,
  { from, to }: { from?: string | undefined; to?: string | undefined } = {},
): string[] {
  const now = new Date(clock.now())
  const months = Array.from({ length: MAX_MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)).toISOString().slice(0, 7),
  )
  const first = from === undefined ? '' : isoTime(from).slice(0, 7)
  const last = to === undefined ? '9999-12' : isoTime(to).slice(0, 7)
  return months.filter((month) => first <= month && month <= last).map((month) => `AUDIT#${month}`)
}

export function isoTime(time: string): string {
  return new Date(time).toISOString()
}
