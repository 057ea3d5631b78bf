/**
 * The audit log of operators: who changed what, when and from where.
 *
 * The entry of a change is part of the transaction that makes the change. Entries form one hash chain
 * per month: each has the hash of the one before it, and a head item has the last one. A writer that
 * loses the race for the head repeats its transaction.
 */
import { randomUUID } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import {
  AuditHeadItem,
  AuditLogItem,
  FIRST_HASH,
  entryHash,
  isoTime,
  monthName,
  monthsOf,
  RETENTION_SECONDS,
  sortKeyOf,
} from './audit-item.ts'
import {
  type AuditMonthCheck,
  type AuditVerification,
  createAuditVerification,
} from './audit-verification.ts'
import { type AuditedItem, readAuditedItem, requireUnchanged, wasChanged } from './audited-item.ts'
import { type Db, eachOperation, type Item, type TransactWriteItem } from './db.ts'
import { rethrowOutcome, TransactionFailed } from './db-errors.ts'
import { entity } from './entity.ts'
import { all, expr } from './expression.ts'
import { operationsTable } from './operations-table.ts'
import type { Page } from './paging.ts'
import { redactedEntries } from './redact.ts'
import { CONFLICT, retryOnConflict } from './retry-on-conflict.ts'

const MAX_CHANGE_BYTES = 4_096
const MAX_TEXT_LENGTH = 256
/** Writers in a row that may be faster. */
const MAX_ATTEMPTS = 1_000

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

export type AuditedWrite = Omit<AuditedChange, 'target'> & {
  /** Where the write determines the id of what changes, it is read from the parts of the write. */
  target?: string | ((parts: readonly TransactWriteItem[]) => string | undefined) | undefined
  /** Describes what changes exactly, instead of `before` and `after`. */
  item?: AuditedItem | undefined
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

export interface AuditLog {
  /** The same store, on which each write is made together with an entry, or not at all. */
  audited(change: AuditedWrite): Db
  /** For a change that is not a write to the store: records that it started, and how it ended. */
  around<T>(change: AuditedChange, work: () => Promise<T>): Promise<T>
  /** For a change that is already made and becomes visible together with this entry. */
  record(change: AuditedChange): Promise<void>
  /** Newest first. After `maxReads` reads the page ends unfilled, because a filter may leave out nearly everything. */
  list(
    filter: AuditFilter & { limit: number; after?: Item | undefined; maxReads?: number },
  ): Promise<Page<AuditEntry>>
  /** Verifies up to `limit` entries, oldest month first. */
  verifyPage(page: { limit: number; after?: Item | undefined }): Promise<Page<AuditMonthCheck>>
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
      SK: sortKeyOf(seq),
      seq,
      at,
      previousHash: head.hash,
      expiresAt,
    }
    const hash = entryHash(unsigned)
    const isUnmoved = head.isStored
      ? expr`${heads.attr('hash')} = ${head.hash}`
      : expr`attribute_not_exists(${heads.attr('PK')})`
    return [
      entries.part.put({ ...unsigned, hash }, isNew),
      heads.part.put({ PK, SK: 'HEAD', seq, hash, expiresAt }, isUnmoved),
    ]
  }

  /** Throws TransactionFailed with the reasons of the given parts if one of their conditions fails. */
  async function write(
    parts: readonly TransactWriteItem[],
    recorded: Recorded,
    item?: AuditedItem,
  ): Promise<void> {
    await retryOnConflict(
      async () => {
        const before = item && (await readAuditedItem(db, item))
        const own = item ? requireUnchanged(parts, item, before) : parts
        const described = item && withDescription(recorded, item.describe(before))
        const TransactItems = [...own, ...(await entryParts(described ?? recorded))]
        try {
          await db
            .transactWriteItems({ TransactItems, ClientRequestToken: randomUUID() })
            .catch(rethrowOutcome)
        } catch (error) {
          if (!(error instanceof TransactionFailed) || !error.conditionFailed()) throw error
          const reasons = error.reasons.slice(0, parts.length)
          if (!reasons.some(({ code }) => code === 'ConditionalCheckFailed')) return CONFLICT
          if (item && wasChanged(item, before, parts, reasons)) return CONFLICT
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
    ...createAuditVerification({ db, clock }),

    audited({ target, item, ...change }) {
      return auditedDb(db, (parts) => {
        const named = typeof target === 'function' ? target(parts) : target
        return write(parts, toRecorded({ ...change, target: named }, 'done'), item)
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

    record: (change) => add(change, 'done'),

    async list({ limit, after, maxReads = Number.POSITIVE_INFINITY, ...filter }) {
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
          maxReads,
        })
        position = undefined
        items.push(...page.items)
        if (items.length < limit && page.next === undefined) continue
        const last = items.at(-1)
        const next = page.next ?? (last && { PK: last.PK, SK: last.SK })
        return { items: items.map(toEntry), next }
      }
      return { items: items.map(toEntry), next: undefined }
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

function withDescription(
  recorded: Recorded,
  { before, after }: ReturnType<AuditedItem['describe']>,
): Recorded {
  return { ...recorded, ...changeTexts(before, after) }
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

function toEntry(item: AuditLogItem): AuditEntry {
  const { PK, seq, at, actor, action, target, address, outcome, operation, hash } = item
  const parse = (text: string | undefined): unknown =>
    text === undefined ? undefined : JSON.parse(text)
  const [before, after] = [parse(item.before), parse(item.after)]
  const month = monthName(PK)
  return { month, seq, at, actor, action, target, address, outcome, operation, before, after, hash }
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
