/** `strongroom kms …`: the embedded KMS, its key, its master key and its audit log. */
import { existsSync } from 'node:fs'
import { serverTable } from '@strongroom/kit/server-table'
import { verifyAudit } from '@strongroom/kms/audit-verify'
import { auditFile } from '@strongroom/server/embedded-kms'
import { KmsUnavailable } from '@strongroom/server/kms'
import { settings } from '@strongroom/server/settings'
import { requireTables } from '@strongroom/server/tables'
import type { Command } from '../command.ts'
import { requireEmbeddedKms, withEmbeddedKms, withStore } from '../with-store.ts'
import { kmsStatusOf, statusText } from './kms-status.ts'

const FAILED = 1
/** More than this is for programs. */
const MOST_FINDINGS = 20

export const kmsStatus: Command = {
  name: 'kms status',
  summary: 'Show the key of the embedded KMS and whether its master key is there',
  about: 'Exits with 1 if the key cannot be used.',
  async run(input) {
    requireEmbeddedKms(settings.parse(input.env))
    return withStore(input, async (store, configured) => {
      await requireTables(store, [serverTable])
      const status = await kmsStatusOf(store.db, configured)
      input.output.result(statusText(status), status)
      return status.problem === null ? 0 : FAILED
    })
  },
}

export const kmsRotate: Command = {
  name: 'kms rotate',
  summary: 'Give the key of the embedded KMS new material, for all that is encrypted from now on',
  about: 'The ARN stays, and so does the old material: what was encrypted before still opens.',
  run: (input) =>
    withEmbeddedKms(input, async ({ kms, id, record }) => {
      const { KeyId: arn } = await kms.as('command-line').rotateKeyOnDemand({ KeyId: id })
      const version = (await record())?.currentVersion
      input.output.result(`${arn} has version ${version}\n`, { arn, version })
    }),
}

export const kmsAuditVerify: Command = {
  name: 'kms audit verify',
  summary: 'See whether the audit log of the embedded KMS is whole',
  about: `Exits with 1 if lines were altered, removed or cut short. That its end was removed only shows
by the hash of the last record: keep it elsewhere and look for it later.`,
  async run({ env, output }) {
    const file = auditFile(settings.parse(env))
    if (!existsSync(file)) {
      throw new KmsUnavailable(`There is no audit log ${file}: set STRONGROOM_DATA`)
    }
    const { records, last, findings } = await verifyAudit(file)
    const shown = findings
      .slice(0, MOST_FINDINGS)
      .map(({ line, message }) => `${line}: ${message}\n`)
    const rest = findings.length - shown.length
    output.result(
      `${shown.join('')}${rest > 0 ? `and ${rest} more: --json lists all\n` : ''}${records} records in ${file}, ${findings.length === 0 ? 'whole' : 'NOT whole'}; the last has the hash ${last}\n`,
      { file, records, last, findings },
    )
    return findings.length === 0 ? 0 : FAILED
  },
}
