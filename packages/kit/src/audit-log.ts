/**
 * The audit log of operators: who changed what, when and from where.
 *
 * The entry of a change is part of the transaction that makes the change. Entries form one hash chain
 * per month: each has the hash of the one before it, and a head item has the last one. A writer that
 * loses the race for the head repeats its transaction.
 */
import { createHash, randomUUID } from 'node:crypto'
import * as z from 'zod'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { type Db, eachOperation, type Item, type TransactWriteItem } from './db.ts'
import { rethrowOutcome, TransactionFailed } from './db-errors.ts'
import { entity } from './entity.ts'
import { all, expr } from './expression.ts'
import { operationsTable } from './operations-table.ts'
import type { Page } from './paging.ts'
import { redactedEntries } from './redact.ts'
import { CONFLICT, retryOnConflict } from './retry-on-conflict.ts'

const DAY_SECONDS = 86_400
const RETENTION_SECONDS = 365 * DAY_SECONDS
/** Months that may have entries: those of a year and the one that it began in. */
const MAX_MONTHS = 13
const MAX_CHANGE_BYTES = 4_096
const MAX_TEXT_LENGTH = 256
/** Twelve digits sort as text for as long as anyone can write entries. */
const SEQUENCE_DIGITS = 12
/** Writers in a row that may be faster. */
const MAX_ATTEMPTS = 1_000

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
type AuditLogItem = z.infer<typeof AuditLogItem>

export const AuditHeadItem = z.object({
  PK: Month,
  SK: z.literal('HEAD'),
  seq: z.number().int().positive(),
  hash: Hash,
  expiresAt: z.number().int(),
})

/** The hash before the first entry of a month. */
const FIRST_HASH = '0'.repeat(64)

export interface AuditActor {
  actor: string
  address?: string | undefined
}

export interface AuditedChange extends AuditActor {
  /** `form-bridge.site.suspended` */
  action: string
  target?: string | undefined
  /** The fields that change, never secrets. */
  before?: object | undefined
  after?: object | undefined
}

export interface AuditEntry {
  month: string
  seq: number
  at: string
  actor: string
  action: string
  target: string | undefined
  address: string | undefined
  outcome: AuditLogItem['outcome']
  operation: string | undefined
  before: unknown
  after: unknown
  hash: string
}

export interface AuditFilter {
  actor?: string | undefined
  action?: string | undefined
  target?: string | undefined
  /** ISO times: from the first, before the second. */
  from?: string | undefined
  to?: string | undefined
}

export interface AuditVerification {
  entries: number
  months: { month: string; entries: number; last: string }[]
  findings: { month: string; seq: number; message: string }[]
}

export interface AuditLog {
  /**
   * The same store, on which each write is made together with an entry, or not at all. Where the
   * write determines the id of what changes, `target` reads it from the parts of the write.
   */
  audited(
    change: Omit<AuditedChange, 'target'> & {
      target?: string | ((parts: readonly TransactWriteItem[]) => string | undefined) | undefined
    },
  ): Db
  /** For a change that is not a write to the store: records that it started, and how it ended. */
  around<T>(change: AuditedChange, work: () => Promise<T>): Promise<T>
  /** Newest first. */
  list(filter: AuditFilter & { limit: number; after?: Item | undefined }): Promise<Page<AuditEntry>>
  verify(): Promise<AuditVerification>
}

export function createAuditLog({ db, clock }: { db: Db; clock: Clock }): AuditLog {
  const entries = entity(db, operationsTable, AuditLogItem)
  const heads = entity(db, operationsTable, AuditHeadItem)
  const isNew = expr`attribute_not_exists(${entries.attr('PK')})`
  const isEntry = expr`${entries.attr('SK')} BETWEEN ${'0'} AND ${':'}`

  async function headOf(PK: string): Promise<{ seq: number; hash: string; isStored: boolean }> {
    const head = await heads.get({ PK, SK: 'HEAD' })
    if (head) return { ...head, isStored: true }
    // A month begins without a head. If somebody deleted it, the chain continues after the last entry.
    const key = expr`${entries.attr('PK')} = ${PK} AND ${isEntry}`
    const [last] = (await entries.query({ key, newestFirst: true, limit: 1 })).items
    return { seq: last?.seq ?? 0, hash: last?.hash ?? FIRST_HASH, isStored: false }
  }

  async function entryParts(recorded: Recorded): Promise<TransactWriteItem[]> {
    const at = new Date(clock.now()).toISOString()
    const PK = `AUDIT#${at.slice(0, 7)}`
    const head = await headOf(PK)
    const seq = head.seq + 1
    const expiresAt = epochSeconds(clock) + RETENTION_SECONDS
    const unsigned = {
      ...recorded,
      PK,
      SK: String(seq).padStart(SEQUENCE_DIGITS, '0'),
      seq,
      at,
      previousHash: head.hash,
      expiresAt,
    }
    const hash = hashOf(unsigned)
    const isUnmoved = head.isStored
      ? expr`${heads.attr('hash')} = ${head.hash}`
      : expr`attribute_not_exists(${heads.attr('PK')})`
    return [
      entries.part.put({ ...unsigned, hash }, isNew),
      heads.part.put({ PK, SK: 'HEAD', seq, hash, expiresAt }, isUnmoved),
    ]
  }

  /** Throws TransactionFailed with the reasons of the given parts if one of their conditions fails. */
  async function write(parts: readonly TransactWriteItem[], recorded: Recorded): Promise<void> {
    await retryOnConflict(
      async () => {
        const TransactItems = [...parts, ...(await entryParts(recorded))]
        try {
          await db
            .transactWriteItems({ TransactItems, ClientRequestToken: randomUUID() })
            .catch(rethrowOutcome)
        } catch (error) {
          if (!(error instanceof TransactionFailed) || !error.conditionFailed()) throw error
          const reasons = error.reasons.slice(0, parts.length)
          if (!reasons.some(({ code }) => code === 'ConditionalCheckFailed')) return CONFLICT
          throw cancelled(reasons, error)
        }
        return undefined
      },
      { maxAttempts: MAX_ATTEMPTS },
    )
  }

  const add = (change: AuditedChange, outcome: AuditLogItem['outcome'], operation?: string) =>
    write([], toRecorded(change, outcome, operation))

  return {
    audited({ target, ...change }) {
      return auditedDb(db, (parts) => {
        const named = typeof target === 'function' ? target(parts) : target
        return write(parts, toRecorded({ ...change, target: named }, 'done'))
      })
    },

    async around(change, work) {
      const operation = randomUUID()
      await add(change, 'started', operation)
      let result
      try {
        result = await work()
      } catch (error) {
        await add(change, 'failed', operation)
        throw error
      }
      await add(change, 'done', operation)
      return result
    },

    async list({ limit, after, ...filter }) {
      const items: AuditLogItem[] = []
      let position = after
      for (const PK of monthsOf(clock, filter)) {
        // Continues in the month of the cursor.
        if (position && position['PK'] !== PK) continue
        const page = await entries.query({
          key: expr`${entries.attr('PK')} = ${PK} AND ${isEntry}`,
          ...withFilter(filter),
          newestFirst: true,
          limit: limit - items.length,
          after: position,
        })
        position = undefined
        items.push(...page.items)
        if (items.length < limit) continue
        const last = items.at(-1)
        const next = page.next ?? (last && { PK: last.PK, SK: last.SK })
        return { items: items.map(toEntry), next }
      }
      return { items: items.map(toEntry), next: undefined }
    },

    async verify() {
      const result: AuditVerification = { entries: 0, months: [], findings: [] }
      for (const PK of monthsOf(clock, {}).toReversed()) await verifyMonth(PK, result)
      return result
    },
  }

  function withFilter({ actor, action, target, from, to }: AuditFilter) {
    const { attr } = entries
    const condition = all(
      // TTL deletes late.
      expr`${attr('expiresAt')} > ${epochSeconds(clock)}`,
      actor === undefined ? undefined : expr`${attr('actor')} = ${actor}`,
      action === undefined ? undefined : expr`${attr('action')} = ${action}`,
      target === undefined ? undefined : expr`${attr('target')} = ${target}`,
      from === undefined ? undefined : expr`${attr('at')} >= ${isoTime(from)}`,
      to === undefined ? undefined : expr`${attr('at')} < ${isoTime(to)}`,
    )
    return condition && { filter: condition }
  }

  async function verifyMonth(PK: string, result: AuditVerification): Promise<void> {
    const month = monthName(PK)
    const found = (seq: number, message: string) => result.findings.push({ month, seq, message })
    let last: AuditLogItem | undefined
    let count = 0
    let after: Item | undefined
    do {
      const key = expr`${entries.attr('PK')} = ${PK} AND ${isEntry}`
      const page = await entries.query({ key, limit: 500, after })
      for (const item of page.items) {
        const { seq } = item
        if (last ? seq !== last.seq + 1 : seq !== 1 && !mayBePurged(month)) {
          found(seq, 'Entries before this one are missing')
        } else if (
          item.previousHash !== (last?.hash ?? (seq === 1 ? FIRST_HASH : item.previousHash))
        ) {
          found(seq, 'The entry before this one was replaced')
        }
        if (hashOf(item) !== item.hash || item.SK !== String(seq).padStart(SEQUENCE_DIGITS, '0')) {
          found(seq, 'The entry was changed')
        }
        last = item
        count += 1
      }
      after = page.next
    } while (after)
    const head = await heads.get({ PK, SK: 'HEAD' })
    if ((head?.seq ?? 0) !== (last?.seq ?? 0) || head?.hash !== last?.hash) {
      const isPurged = last === undefined && mayBePurged(month)
      if (!isPurged) found(head?.seq ?? last?.seq ?? 0, 'The last entries or the head are missing')
    }
    if (last) result.months.push({ month, entries: count, last: last.hash })
    result.entries += count
  }

  /** The first entries of a month are purged while the last ones are still kept. */
  function mayBePurged(month: string): boolean {
    return Date.parse(`${month}-01T00:00:00Z`) / 1000 + RETENTION_SECONDS <= epochSeconds(clock)
  }
}

/** A change as it is stored, without its place in the chain. */
type Recorded = Pick<
  AuditLogItem,
  'actor' | 'action' | 'target' | 'address' | 'outcome' | 'operation' | 'before' | 'after'
>

function toRecorded(
  { actor, action, target, address, before, after }: AuditedChange,
  outcome: AuditLogItem['outcome'],
  operation?: string,
): Recorded {
  return {
    actor: shorten(actor),
    action,
    ...(target !== undefined && { target: shorten(target) }),
    ...(address !== undefined && { address: shorten(address) }),
    outcome,
    ...(operation !== undefined && { operation }),
    ...changeTexts(before, after),
  }
}

function shorten(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH - 1)}…`
}

/** What looks like a secret is hidden, and what is too long is left out. */
function changeTexts(before: object | undefined, after: object | undefined) {
  const texts = {
    ...(before && { before: JSON.stringify(withoutSecrets(before)) }),
    ...(after && { after: JSON.stringify(withoutSecrets(after)) }),
  }
  const bytes = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes <= MAX_CHANGE_BYTES) return texts
  const omitted = JSON.stringify({ omittedBytes: bytes })
  return { ...(before && { before: omitted }), ...(after && { after: omitted }) }
}

function withoutSecrets(fields: object): object {
  return Object.fromEntries(redactedEntries(fields))
}

/** Over all stored attributes, in a fixed order. */
function hashOf(item: Omit<AuditLogItem, 'hash'>): string {
  const { PK, seq, previousHash, at, actor, action, target, address, outcome } = item
  const { operation, before, after, expiresAt } = item
  const fields = [PK, seq, previousHash, at, actor, action, target, address, outcome, operation]
  const text = JSON.stringify([...fields, before, after, expiresAt].map((field) => field ?? null))
  return createHash('sha256').update(text).digest('hex')
}

function toEntry(item: AuditLogItem): AuditEntry {
  const { PK, seq, at, actor, action, target, address, outcome, operation, hash } = item
  const parse = (text: string | undefined): unknown =>
    text === undefined ? undefined : JSON.parse(text)
  const [before, after] = [parse(item.before), parse(item.after)]
  const month = monthName(PK)
  return { month, seq, at, actor, action, target, address, outcome, operation, before, after, hash }
}

function monthName(PK: string): string {
  return PK.slice('AUDIT#'.length)
}

/** The partitions that may have entries, newest first. */
function monthsOf(clock: Clock, { from, to }: AuditFilter): string[] {
  const now = new Date(clock.now())
  const months = Array.from({ length: MAX_MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)).toISOString().slice(0, 7),
  )
  const first = from === undefined ? '' : isoTime(from).slice(0, 7)
  const last = to === undefined ? '9999-12' : isoTime(to).slice(0, 7)
  return months.filter((month) => first <= month && month <= last).map((month) => `AUDIT#${month}`)
}

function isoTime(time: string): string {
  return new Date(time).toISOString()
}

/** A store whose single writes are transactions too, so that an entry can be part of them. */
function auditedDb(db: Db, write: (parts: readonly TransactWriteItem[]) => Promise<void>): Db {
  const single = (part: TransactWriteItem) => write([part]).catch(rethrowConditionFailed)
  const read = async (TableName: string, Key: Item) =>
    (await db.getItem({ TableName, Key, ConsistentRead: true })).Item

  return {
    ...eachOperation((name) => (input) => db[name](input)),

    async putItem({ ReturnValues = 'NONE', ...Put }) {
      if (ReturnValues !== 'NONE') throw new TypeError('An audited put returns no old item')
      await single({ Put })
      return {}
    },

    // Transactions return no items, so they are read: a concurrent write may show in the result.
    async updateItem({ ReturnValues = 'NONE', UpdateExpression = '', ...update }) {
      if (ReturnValues !== 'NONE' && ReturnValues !== 'ALL_NEW') {
        throw new TypeError(`An audited update cannot return ${ReturnValues}`)
      }
      await single({ Update: { ...update, UpdateExpression } })
      if (ReturnValues === 'NONE') return {}
      const Attributes = await read(update.TableName, update.Key)
      return Attributes ? { Attributes } : {}
    },

    async deleteItem({ ReturnValues = 'NONE', ...Delete }) {
      const Attributes =
        ReturnValues === 'ALL_OLD' ? await read(Delete.TableName, Delete.Key) : undefined
      await single({ Delete })
      return Attributes ? { Attributes } : {}
    },

    async batchWriteItem() {
      throw new TypeError('An audited batch write is not possible: use a transaction')
    },

    async transactWriteItems({ TransactItems }) {
      await write(TransactItems)
      return {}
    },
  }
}

/** As the store reports it, because callers of a Db expect its errors. */
function cancelled(reasons: TransactionFailed['reasons'], cause: Error): Error {
  return Object.assign(new Error('The transaction was cancelled', { cause }), {
    name: 'TransactionCanceledException',
    CancellationReasons: reasons.map(({ code, item }) => ({
      Code: code,
      ...(item && { Item: item }),
    })),
  })
}

function rethrowConditionFailed(error: unknown): never {
  if (error instanceof Error && error.name === 'TransactionCanceledException') {
    const { CancellationReasons } = error as { CancellationReasons?: { Item?: Item }[] }
    const Item = CancellationReasons?.[0]?.Item
    const message = 'The conditional request failed'
    throw Object.assign(new Error(message, { cause: error }), {
      name: 'ConditionalCheckFailedException',
      ...(Item && { Item }),
    })
  }
  throw error
}
