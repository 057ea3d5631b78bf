/** The report of `strongroom kms status`. */
import type { KmsStatus } from '@strongroom/server/kms/status'

export function statusText({ key, masterKey, auditLog, problem }: KmsStatus): string {
  const protection = { none: 'without a passphrase', passphrase: 'protected by a passphrase' }
  const lines = [
    ['Key', key?.arn ?? (problem === null ? 'none yet: the first start creates it' : 'none')],
    ...(key ? [['State', key.state], versionsLine(key)] : []),
    [
      'Master key',
      masterKey.protection === null
        ? masterKey.file
        : `${masterKey.file}, ${protection[masterKey.protection]}`,
    ],
    ...(masterKey.change === 'begun'
      ? [['Change', 'running or interrupted: "strongroom kms rekey" starts over']]
      : []),
    ['Audit log', auditLog],
    ...(problem === null ? [] : [['Problem', problem]]),
  ]
  return lines.map(([name = '', value]) => `${name.padEnd(12)}${value}\n`).join('')
}

function versionsLine({ versions, newestVersionAt }: NonNullable<KmsStatus['key']>): string[] {
  const created =
    newestVersionAt === null ? '' : `, the newest from ${newestVersionAt.slice(0, 10)}`
  return ['Versions', `${versions}${created}`]
}
