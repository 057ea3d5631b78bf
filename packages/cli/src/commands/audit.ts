/** `strongroom audit …`: what operators changed, on the configured store or through a server. */
import { type AuditFilter, createAuditLog } from '@strongroom/kit/audit-log'
import {
  type AuditMonthCheck,
  type AuditVerification,
  MAX_VERIFIED_ENTRIES,
  toAuditVerification,
} from '@strongroom/kit/audit-verification'
import type { Item } from '@strongroom/kit/db'
import { operationsTable } from '@strongroom/kit/operations-table'
import { systemClock } from '@strongroom/platform/clock'
import { type AuditEntryView, toAuditEntryView } from '@strongroom/server/audit/view'
import { requireTables } from '@strongroom/server/tables'
import { createOperatorClientIfRequested } from '../api-client.ts'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { escapeControls, parseDuration, pluralize } from '../output.ts'
import { withStore } from '../store.ts'

const FAILED = 1
const DEFAULT_LIMIT = '100'
const PAGE_SIZE = 100
/** `--json` lists all. */
const MAX_FINDINGS = 20

const auditList: Command = {
  name: 'audit list',
  kind: 'either',
  summary: 'List changes by operators, newest first',
  options: {
    actor: { value: 'ACTOR', summary: 'Only by this actor: operator:NAME, or local:USER' },
    action: { value: 'ACTION', summary: 'Only this action, such as form-bridge.site.suspended' },
    target: { value: 'TARGET', summary: 'Only changes of this' },
    since: { value: 'TIME', summary: 'Only of this time until now, such as 7d' },
    limit: { value: 'NUMBER', summary: `Maximum number (${DEFAULT_LIMIT})` },
  },
  about:
    'Entries are kept for one year. The actor of a command on the store is local: and the user of the operating system.',
  async run(input) {
    const limit = parseLimit(input)
    const filter = parseFilter(input)
    const entries = await listEntries(input, filter, limit)
    input.output.result(
      entries.map(lineOf).join('') || 'There are no entries that match\n',
      entries,
    )
  },
}

const auditVerify: Command = {
  name: 'audit verify',
  kind: 'either',
  summary: 'Verify the audit log of operators',
  about: `Exits with 1 if entries were changed or removed. Entries form one chain per month: store the last
hash of each elsewhere to detect a chain that was written anew. A server verifies its log itself;
with --local, this command does, so that you need not trust the server.`,
  async run(input) {
    const result = await verifyLog(input)
    const { entries, months, findings } = result
    const shown = findings
      .slice(0, MAX_FINDINGS)
      .map(({ month, seq, message }) => `${month}/${seq}: ${message}\n`)
    const rest = findings.length - shown.length
    const lines = [
      ...shown,
      rest > 0 ? `and ${rest} more: --json lists all\n` : '',
      ...months.map(({ month, last }) => `${month}: the last entry has the hash ${last}\n`),
      `${pluralize(entries, 'entry', 'entries')}, ${findings.length === 0 ? 'intact' : 'NOT intact'}\n`,
    ]
    input.output.result(lines.join(''), result)
    return findings.length === 0 ? 0 : FAILED
  },
}

async function verifyLog(input: CommandInput): Promise<AuditVerification> {
  const api = createOperatorClientIfRequested(input, 'server')
  const checks: AuditMonthCheck[] = []
  let entries = 0
  const add = (page: readonly AuditMonthCheck[], hasMore: boolean) => {
    checks.push(...page)
    for (const check of page) entries += check.entries
    if (hasMore) input.output.progress(`${pluralize(entries, 'entry', 'entries')} so far`)
  }
  if (api) {
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `?cursor=${cursor}`
      const page: { items: AuditMonthCheckView[]; cursor: string | null } = await api(
        'GET',
        `/audit/verification${query}`,
      )
      cursor = page.cursor
      const found = page.items.map(({ last, ...check }) => ({ ...check, last: last ?? undefined }))
      add(found, cursor !== null)
    } while (cursor !== null)
  } else {
    await withStore(input, async (store) => {
      await requireTables(store, [operationsTable])
      const log = createAuditLog({ db: store.db, clock: systemClock })
      let after: Item | undefined
      do {
        const page = await log.verifyPage({ limit: MAX_VERIFIED_ENTRIES, after })
        after = page.next
        add(page.items, after !== undefined)
      } while (after)
    })
  }
  return toAuditVerification(checks)
}

type AuditMonthCheckView = Omit<AuditMonthCheck, 'last'> & { last: string | null }

async function listEntries(
  input: CommandInput,
  filter: AuditFilter,
  limit: number,
): Promise<AuditEntryView[]> {
  const api = createOperatorClientIfRequested(input, 'server')
  const entries: AuditEntryView[] = []
  if (api) {
    let cursor: string | null = null
    do {
      const size = String(Math.min(PAGE_SIZE, limit - entries.length))
      const query = new URLSearchParams({ limit: size, ...(cursor !== null && { cursor }) })
      for (const [name, value] of Object.entries(filter)) {
        if (typeof value === 'string') query.set(name, value)
      }
      const page: { items: AuditEntryView[]; cursor: string | null } = await api(
        'GET',
        `/audit?${query.toString()}`,
      )
      entries.push(...page.items)
      cursor = page.cursor
    } while (cursor !== null && entries.length < limit)
    return entries
  }
  return withStore(input, async (store) => {
    await requireTables(store, [operationsTable])
    const log = createAuditLog({ db: store.db, clock: systemClock })
    let after: Item | undefined
    do {
      const size = Math.min(PAGE_SIZE, limit - entries.length)
      const page = await log.list({ ...filter, limit: size, after })
      entries.push(...page.items.map(toAuditEntryView))
      after = page.next
    } while (after && entries.length < limit)
    return entries
  })
}

function parseLimit({ options }: CommandInput): number {
  const text = String(options['limit'] ?? DEFAULT_LIMIT)
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usageError('--limit must be a number from 1 to 999999')
  return Number(text)
}

function parseFilter({ options }: CommandInput): AuditFilter {
  const { actor, action, target, since } = options
  const text = (value: string | boolean | undefined) =>
    typeof value === 'string' ? value : undefined
  const from =
    typeof since === 'string'
      ? new Date(systemClock.now() - parseDuration('since', since) * 1000).toISOString()
      : undefined
  return { actor: text(actor), action: text(action), target: text(target), from }
}

function lineOf({ at, actor, action, target, address, outcome }: AuditEntryView): string {
  const parts = [
    at,
    escapeControls(actor),
    action,
    ...(target === null ? [] : [escapeControls(target)]),
    ...(outcome === 'done' ? [] : [`(${outcome})`]),
    ...(address === null ? [] : [`from ${address}`]),
  ]
  return `${parts.join('  ')}\n`
}

export const commands: readonly Command[] = [auditList, auditVerify]
