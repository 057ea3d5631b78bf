/** The commands, in the order in which help lists them. */
import type { Command } from './command.ts'
import { restoreCommand } from './commands/backup-restore.ts'
import { backupCommand } from './commands/backup.ts'
import { config } from './commands/config.ts'
import { dynamodb } from './commands/dynamodb.ts'
import { fakeSlack, fakeSlackSend } from './commands/fake-slack.ts'
import { listenCommand } from './commands/listen.ts'
import { keysBeacon, keysCreate, keysList, keysShow } from './commands/keys.ts'
import { keysRotate } from './commands/keys-rotate.ts'
import {
  kmsPassphraseChange,
  kmsPassphraseRemove,
  kmsPassphraseSet,
} from './commands/kms-passphrase.ts'
import { kmsRekey } from './commands/kms-rekey.ts'
import { kmsServe } from './commands/kms-serve.ts'
import { kmsAuditVerify, kmsRotate, kmsStatus } from './commands/kms.ts'
import { operatorAdd, operatorList, operatorRemove, operatorRotate } from './commands/operator.ts'
import { pluginKeygen, pluginPublish, pluginSign, pluginVersions } from './commands/plugin.ts'
import { secretsList, secretsRotate } from './commands/secrets.ts'
import { burnCommand } from './commands/burn.ts'
import { openCommand } from './commands/open.ts'
import { receiptCommand } from './commands/receipt.ts'
import { sealCommand } from './commands/seal.ts'
import { serveCommand } from './commands/serve.ts'
import {
  sitesConfirm,
  sitesDisable,
  sitesList,
  sitesResume,
  sitesShow,
  sitesSuspend,
} from './commands/sites.ts'
import { slackAppAdd, slackAppRemove, slackApps, slackSecretRotate } from './commands/slack-apps.ts'
import {
  slackDecisions,
  slackTokenRemove,
  slackTokens,
  slackTokenSet,
} from './commands/slack-tokens.ts'
import { tablesCloudFormation, tablesCreate, tablesVerify } from './commands/tables.ts'
import { userAdd } from './commands/user.ts'
import { workerCommand } from './commands/worker.ts'

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
  workerCommand,
  userAdd,
  listenCommand,
  sitesList,
  sitesShow,
  sitesSuspend,
  sitesResume,
  sitesDisable,
  sitesConfirm,
  pluginKeygen,
  pluginSign,
  pluginPublish,
  pluginVersions,
  keysCreate,
  keysList,
  keysShow,
  keysRotate,
  keysBeacon,
  slackApps,
  slackAppAdd,
  slackAppRemove,
  slackSecretRotate,
  slackTokens,
  slackTokenSet,
  slackTokenRemove,
  slackDecisions,
  secretsList,
  secretsRotate,
  kmsStatus,
  kmsRotate,
  kmsRekey,
  kmsPassphraseSet,
  kmsPassphraseChange,
  kmsPassphraseRemove,
  kmsAuditVerify,
  kmsServe,
  backupCommand,
  restoreCommand,
  dynamodb,
  // Before the shorter name, which it begins with.
  fakeSlackSend,
  fakeSlack,
]
