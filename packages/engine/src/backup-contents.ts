// Reads the contents of a backup, for programs that must inspect them before restoring. The file must
// have been verified: call it from `onVerified` of `restore`.

import {
  ATTACHMENT_FRAME,
  ITEM_FRAME,
  parse,
  readFrames,
  TABLE_FRAME,
  type BackupAttachment,
  type BackupTable,
} from './storage/backups/backup-file.ts'
import { decodeItem } from './storage/codec.ts'
import type { Item } from './values/types.ts'

/** The items of the named tables. */
export async function* backupItems(
  file: string,
  isMeant: (table: string) => boolean,
): AsyncGenerator<Item> {
  let inTable = false
  for await (const frame of readFrames(file)) {
    if (frame.type === TABLE_FRAME) inTable = isMeant(parse<BackupTable>(frame).name)
    else if (frame.type === ITEM_FRAME && inTable) yield decodeItem(frame.payload)
  }
}

export async function backupAttachment(
  file: string,
  name: string,
): Promise<BackupAttachment | undefined> {
  for await (const frame of readFrames(file)) {
    // Attachments precede the tables.
    if (frame.type === TABLE_FRAME) return undefined
    if (frame.type !== ATTACHMENT_FRAME) continue
    const found = parse<{ name: string; content: string }>(frame)
    if (found.name === name) return { name, content: Buffer.from(found.content, 'base64') }
  }
  return undefined
}
