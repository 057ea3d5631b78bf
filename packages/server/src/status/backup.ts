/** The last backup that `strongroom backup` completed. */
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { operationsTable } from '@strongroom/kit/operations-table'
import * as z from 'zod'

export const LastBackupItem = z.object({
  PK: z.literal('BACKUP'),
  SK: z.literal('LAST'),
  at: z.string(),
  bytes: z.number().int().min(0),
  /** Where the command wrote it; it may have been moved since. */
  file: z.string(),
})
export type LastBackup = Pick<z.infer<typeof LastBackupItem>, 'at' | 'bytes' | 'file'>

const KEY = { PK: 'BACKUP', SK: 'LAST' } as const

export function createBackupRecord(db: Db) {
  const items = entity(db, operationsTable, LastBackupItem)
  return {
    put: (backup: LastBackup): Promise<void> => items.put({ ...KEY, ...backup }),
    async get(): Promise<LastBackup | undefined> {
      const item = await items.get(KEY)
      return item && { at: item.at, bytes: item.bytes, file: item.file }
    },
  }
}
