/** What a copy did, for people and for programs. */
import { secretsTable } from '@strongroom/sealed/tables'
import { columns, pluralize } from '../output.ts'
import type { TableReport } from './compare-pass.ts'
import type { CopyOutcome } from './run-copy.ts'

export interface CopyReport extends CopyOutcome {
  from: string
  to: string
  /** Whether an earlier run of the copy was continued. */
  isResumed: boolean
  withSealed: boolean
  whileRunning: boolean
}

/** The first digits identify a checksum for people; `--json` has all. */
const SHOWN_DIGITS = 16

export function reportText(report: CopyReport): string {
  const { tables, from, to, withSealed, whileRunning, remaining } = report
  const rows = tables.map((table) => [
    table.table,
    pluralize(table.items, 'item'),
    `checksum ${table.checksum.slice(0, SHOWN_DIGITS)}`,
    notesOf(table),
  ])
  const items = tables.reduce((sum, table) => sum + table.items, 0)
  const lines = [
    `Copied and verified ${pluralize(items, 'item')} in ${pluralize(tables.length, 'table')} from ${from} to ${to}`,
    withSealed
      ? 'Secrets of Sealed were copied: one that is opened or burned at the source from now on can still be opened at the target'
      : `${secretsTable.name} was not copied: --with-sealed copies secrets that can still be opened`,
    ...(whileRunning ? [remainingText(remaining)] : []),
  ]
  return `${columns(rows)}${lines.join('\n')}\n`
}

function notesOf({ rewrapped, skipped }: TableReport): string {
  const notes = [
    ...(rewrapped > 0 ? [`${rewrapped} re-wrapped`] : []),
    ...(skipped > 0 ? [`${skipped} expired or ended and skipped`] : []),
  ]
  return notes.join(', ')
}

function remainingText(remaining: number): string {
  const changing =
    remaining === 0
      ? ''
      : `The source kept changing: ${pluralize(remaining, 'item')} in the last round. `
  return `${changing}What the source changes from now on is missing at the target. To finish, stop the source and run the command without --while-running.`
}

export function reportJson(report: CopyReport): object {
  const { tables, from, to, isResumed, withSealed, whileRunning, remaining } = report
  const sum = (name: 'items' | 'rewrapped' | 'skipped' | 'corrected') =>
    tables.reduce((total, table) => total + table[name], 0)
  return {
    from,
    to,
    resumed: isResumed,
    withSealed,
    whileRunning,
    items: sum('items'),
    rewrapped: sum('rewrapped'),
    skipped: sum('skipped'),
    corrected: sum('corrected'),
    remaining,
    tables,
  }
}
