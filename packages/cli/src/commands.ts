/** The commands, in the order in which help lists them. */
import type { Command } from './command.ts'
import { backupCommand, restoreCommand } from './commands/backup.ts'
import { config } from './commands/config.ts'
import { dynamodb } from './commands/dynamodb.ts'
import { keysBeacon, keysCreate, keysList, keysShow } from './commands/keys.ts'
import { keysRotate } from './commands/keys-rotate.ts'
import { operatorAdd, operatorList, operatorRemove, operatorRotate } from './commands/operator.ts'
import { serveCommand } from './commands/serve.ts'
import { tablesCloudFormation, tablesCreate, tablesVerify } from './commands/tables.ts'

export const commands: readonly Command[] = [
  serveCommand,
  config,
  tablesCreate,
  tablesVerify,
  tablesCloudFormation,
  operatorAdd,
  operatorList,
  operatorRotate,
  operatorRemove,
  keysCreate,
  keysList,
  keysShow,
  keysRotate,
  keysBeacon,
  backupCommand,
  restoreCommand,
  dynamodb,
]
