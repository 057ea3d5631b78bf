/** The commands, in the order in which help lists them. */
import type { Command } from './command.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { burnCommand } from './commands/burn.ts'
import { config } from './commands/config.ts'
import { dynamodb } from './commands/dynamodb.ts'
import { openCommand } from './commands/open.ts'
import { operatorAdd, operatorList, operatorRemove, operatorRotate } from './commands/operator.ts'
import { receiptCommand } from './commands/receipt.ts'
import { sealCommand } from './commands/seal.ts'
import { serveCommand } from './commands/serve.ts'
import { tablesCloudFormation, tablesCreate, tablesVerify } from './commands/tables.ts'

export const commands: readonly Command[] = [
  serveCommand,
  sealCommand,
  openCommand,
  burnCommand,
  receiptCommand,
  config,
  tablesCreate,
  tablesVerify,
  tablesCloudFormation,
  operatorAdd,
  operatorList,
  operatorRotate,
  operatorRemove,
  backupCommand,
  restoreCommand,
  dynamodb,
]
