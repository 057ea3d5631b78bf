/**
 * The commands by their first word, in the order in which help lists them. Each word loads only its
 * own: `seal` does not wait for a server that it does not need.
 */
import type { Command } from './command.ts'

export type Commands = Readonly<Record<string, () => Promise<readonly Command[]>>>

export const commands: Commands = {
  serve: async () => [(await import('./commands/serve.ts')).serveCommand],
  seal: async () => [(await import('./commands/seal.ts')).sealCommand],
  open: async () => [(await import('./commands/open.ts')).openCommand],
  burn: async () => [(await import('./commands/burn.ts')).burnCommand],
  receipt: async () => [(await import('./commands/receipt.ts')).receiptCommand],
  config: async () => [(await import('./commands/config.ts')).config],
  async tables() {
    const { tablesCreate, tablesVerify, tablesCloudFormation } =
      await import('./commands/tables.ts')
    return [tablesCreate, tablesVerify, tablesCloudFormation]
  },
  async operator() {
    const { operatorAdd, operatorList, operatorRotate, operatorRemove } =
      await import('./commands/operator.ts')
    return [operatorAdd, operatorList, operatorRotate, operatorRemove]
  },
  worker: async () => [(await import('./commands/worker.ts')).workerCommand],
  user: async () => [(await import('./commands/user.ts')).userAdd],
  async sources() {
    const { sourcesList, sourcesAdd, sourcesShow, sourcesPause, sourcesResume, sourcesRemove } =
      await import('./commands/sources.ts')
    const { sourcesChange } = await import('./commands/sources-change.ts')
    const { sourcesRotate } = await import('./commands/rotate-secrets.ts')
    return [
      sourcesList,
      sourcesAdd,
      sourcesShow,
      sourcesChange,
      sourcesPause,
      sourcesResume,
      sourcesRotate,
      sourcesRemove,
    ]
  },
  async connections() {
    const {
      connectionsList,
      connectionsAdd,
      connectionsShow,
      connectionsPause,
      connectionsResume,
      connectionsRemove,
    } = await import('./commands/connections.ts')
    const { connectionsChange, connectionsTest } = await import('./commands/connections-change.ts')
    const { connectionsRotate } = await import('./commands/rotate-secrets.ts')
    return [
      connectionsList,
      connectionsAdd,
      connectionsShow,
      connectionsChange,
      connectionsTest,
      connectionsPause,
      connectionsResume,
      connectionsRotate,
      connectionsRemove,
    ]
  },
  async events() {
    const { eventsList, eventsShow, eventsRetry, eventsCancel } =
      await import('./commands/events.ts')
    const { eventsReplay } = await import('./commands/events-replay.ts')
    return [eventsList, eventsShow, eventsReplay, eventsRetry, eventsCancel]
  },
  async replays() {
    const { replaysList, replaysCancel } = await import('./commands/replays.ts')
    return [replaysList, replaysCancel]
  },
  async alerts() {
    const { alertsShow, alertsSet, alertsTest } = await import('./commands/alerts.ts')
    const { alertsRotate } = await import('./commands/rotate-secrets.ts')
    return [alertsShow, alertsSet, alertsTest, alertsRotate]
  },
  listen: async () => [(await import('./commands/listen.ts')).listenCommand],
  async sites() {
    const { sitesList, sitesShow, sitesSuspend, sitesResume, sitesDisable, sitesConfirm } =
      await import('./commands/sites.ts')
    return [sitesList, sitesShow, sitesSuspend, sitesResume, sitesDisable, sitesConfirm]
  },
  async plugin() {
    const { pluginKeygen, pluginSign, pluginPublish, pluginVersions } =
      await import('./commands/plugin.ts')
    return [pluginKeygen, pluginSign, pluginPublish, pluginVersions]
  },
  async keys() {
    const { keysCreate, keysList, keysShow, keysBeacon } = await import('./commands/keys.ts')
    const { keysRotate } = await import('./commands/keys-rotate.ts')
    return [keysCreate, keysList, keysShow, keysRotate, keysBeacon]
  },
  async slack() {
    const { slackApps, slackAppAdd, slackAppRemove, slackSecretRotate } =
      await import('./commands/slack-apps.ts')
    const { slackTokens, slackTokenSet, slackTokenRemove, slackDecisions } =
      await import('./commands/slack-tokens.ts')
    return [
      slackApps,
      slackAppAdd,
      slackAppRemove,
      slackSecretRotate,
      slackTokens,
      slackTokenSet,
      slackTokenRemove,
      slackDecisions,
    ]
  },
  async secrets() {
    const { secretsList, secretsRotate } = await import('./commands/secrets.ts')
    return [secretsList, secretsRotate]
  },
  async kms() {
    const { kmsStatus, kmsRotate, kmsAuditVerify } = await import('./commands/kms.ts')
    const { kmsPassphraseSet, kmsPassphraseChange, kmsPassphraseRemove } =
      await import('./commands/kms-passphrase.ts')
    const { kmsRekey } = await import('./commands/kms-rekey.ts')
    const { kmsServe } = await import('./commands/kms-serve.ts')
    return [
      kmsStatus,
      kmsRotate,
      kmsRekey,
      kmsPassphraseSet,
      kmsPassphraseChange,
      kmsPassphraseRemove,
      kmsAuditVerify,
      kmsServe,
    ]
  },
  backup: async () => [(await import('./commands/backup.ts')).backupCommand],
  restore: async () => [(await import('./commands/backup-restore.ts')).restoreCommand],
  dynamodb: async () => [(await import('./commands/dynamodb.ts')).dynamodb],
  async 'fake-slack'() {
    const { fakeSlackSend, fakeSlack } = await import('./commands/fake-slack.ts')
    // Before the shorter name, which it begins with.
    return [fakeSlackSend, fakeSlack]
  },
}
