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

/** A line for each table, and for large ones now and then. */
export function progressTo(output: Output): (progress: Progress) => void {
  let told: Progress | undefined
  return ({ table, items }) => {
    if (told?.table === table && items - told.items < 50_000) return
    told = { table, items }
    output.progress(items === 0 ? table : `${table}: ${items} items`)
  }
}

export function summary(tables: readonly { items: number }[]): string {
  const items = tables.reduce((sum, table) => sum + table.items, 0)
  return `${tables.length} ${tables.length === 1 ? 'table' : 'tables'} with ${items} ${items === 1 ? 'item' : 'items'}`
}
