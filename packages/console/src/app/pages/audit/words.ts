/** Actions of the audit log in words. */

const WORDS: Readonly<Record<string, string>> = {
  'account.created': 'Created the account',
  'account.signed_in': 'Signed in',
  'account.signed_out': 'Signed out',
  'account.changed': 'Changed the account',
  'account.password_changed': 'Changed the password',
  'account.password_reset': 'Reset the password',
  'account.password_reset_offered': 'Created a password reset link',
  'account.session_reused': 'Ended all sessions: a session was used twice',
  'account.email_verified': 'Verified the e-mail address',
  'account.credentials_confirmed': 'Confirmed keys and identities',
  'account.plan_changed': 'Changed the plan',
  'account.exported': 'Exported the account',
  'account.deleted': 'Deleted the account',
  'alerts.changed': 'Changed alerts',
  'alerts.secret_rotated': 'Rotated the secret of alerts',
  'alerts.tested': 'Sent a test alert',
  'identity.linked': 'Linked an identity',
  'identity.unlinked': 'Unlinked an identity',
  'source.created': 'Created a source',
  'source.changed': 'Changed a source',
  'source.paused': 'Paused a source',
  'source.resumed': 'Resumed a source',
  'source.deleted': 'Deleted a source',
  'source.signing_changed': 'Changed the verification of a source',
  'source.secret_rotated': 'Rotated a signing secret',
  'connection.created': 'Created a connection',
  'connection.changed': 'Changed a connection',
  'connection.paused': 'Paused a connection',
  'connection.resumed': 'Resumed a connection',
  'connection.deleted': 'Deleted a connection',
  'connection.tested': 'Tested a destination',
  'connection.secret_rotated': 'Rotated the secret of a connection',
  'connection.secret_shown': 'Looked at the secret of a connection',
  'api_key.created': 'Created an API key',
  'api_key.deleted': 'Revoked an API key',
  'event.replayed': 'Replayed events',
  'event.replayed_unverified': 'Replayed an unverified event',
  'replay.started': 'Started a replay',
  'replay.cancelled': 'Cancelled a replay',
  'delivery.held': 'Held a delivery',
  'delivery.released': 'Released a delivery',
  'delivery.retried': 'Retried a delivery',
  'delivery.cancelled': 'Cancelled a delivery',
}

export function actionWords(action: string): string {
  return WORDS[action] ?? action
}

/** What can be filtered by: groups and the single actions in them. */
export const actionGroups: readonly { name: string; pattern: string; actions: string[] }[] = [
  ['Account', 'account'],
  ['Alerts', 'alerts'],
  ['Identities', 'identity'],
  ['Sources', 'source'],
  ['Connections', 'connection'],
  ['API keys', 'api_key'],
  ['Events', 'event'],
  ['Replays', 'replay'],
  ['Deliveries', 'delivery'],
].map(([name = '', prefix = '']) => ({
  name,
  pattern: `${prefix}.*`,
  actions: Object.keys(WORDS).filter((action) => action.startsWith(`${prefix}.`)),
}))

const ATTRIBUTES: Readonly<Record<string, string>> = {
  destinationUrl: 'destination',
  customHeaders: 'headers',
  retryConfig: 'retry schedule',
  signingSecret: 'signing secret',
  signingAlgorithm: 'algorithm',
  signingOptions: 'signing options',
  credentialHeaders: 'credential headers',
  dedup: 'event id',
  eventType: 'event type',
  webhookUrl: 'webhook',
}

export function attributeWords(name: string): string {
  return ATTRIBUTES[name] ?? name
}
