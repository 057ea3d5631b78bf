/** What `strongroom backup` and `restore` have in common. */
import { resolve } from 'node:path'
import type { Progress } from '@strongroom/engine/backup'
import { type Settings, settings } from '@strongroom/server/settings'
import { storeKind, StoreUnavailable } from '@strongroom/server/store'
import type { CommandInput, CommandOption, Output } from '../command.ts'

export const dataOption: Readonly<Record<'data', CommandOption>> = {
  data: { value: 'DIR', summary: 'The data directory (STRONGROOM_DATA, ./data)' },
}

export function configuredData({ options, env }: CommandInput): {
  configured: Settings
  directory: string
} {
  const { data } = options
  const configured = settings.parse(
    typeof data === 'string' ? { ...env, STRONGROOM_DATA: data } : env,
  )
  if (storeKind(configured) !== 'embedded') {
    throw new StoreUnavailable(
      'Only the embedded store is backed up this way: on DynamoDB use point-in-time recovery or AWS Backup',
    )
  }
  return { configured, directory: resolve(configured.STRONGROOM_DATA) }
}

const LARGE = 50_000

/** A line for each table, and for large ones now and then. */
export function progressTo(output: Output): (progress: Progress) => void {
  let told = { table: '', items: 0 }
  return ({ table, items, isWhole }) => {
    if (isWhole) output.progress(`${table}: ${counted(items, 'item')}`)
    else if (items - (told.table === table ? told.items : 0) >= LARGE) {
      told = { table, items }
      output.progress(`${table}: ${items} items so far`)
    }
  }
}

export function summary(tables: readonly { items: number }[]): string {
  const items = tables.reduce((sum, table) => sum + table.items, 0)
  return `${counted(tables.length, 'table')} with ${counted(items, 'item')}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
