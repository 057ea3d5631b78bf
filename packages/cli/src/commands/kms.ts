/** `strongroom kms …`: the embedded KMS, its key, its master key and its audit log. */
import { Failure } from '@strongroom/kit/errors'
import { existsSync } from 'node:fs'
import { serverTable } from '@strongroom/kit/server-table'
import { verifyAudit } from '@strongroom/kms/audit-verify'
import { auditFilePath } from '@strongroom/server/kms/embedded'
import { openKmsDb } from '@strongroom/server/kms/local'
import { kmsStatusOf } from '@strongroom/server/kms/status'
import { settings } from '@strongroom/server/settings'
import { requireTables } from '@strongroom/server/tables'
import type { Command } from '../command.ts'
import { withAuditedEmbeddedKms } from '../server/audited-store.ts'
import { requireEmbeddedKms, withStore } from '../store.ts'
import { statusText } from '../kms/status.ts'
import { kmsRekey } from '../kms/rekey-command.ts'
import {
  kmsPassphraseSet,
  kmsPassphraseChange,
  kmsPassphraseRemove,
} from '../kms/passphrase-commands.ts'
import { kmsServe } from '../kms/serve-command.ts'

const FAILED = 1
/** `--json` lists all. */
const MAX_FINDINGS = 20

const kmsStatus: Command = {
  name: 'kms status',
  kind: 'store',
  summary: 'Show the key of the embedded KMS and the state of its master key',
  about: 'Exits with 1 if the key cannot be used.',
  async run(input) {
    requireEmbeddedKms(settings.parse(input.env))
    return withStore(input, async (store, configured) => {
      await requireTables(store, [serverTable])
      const keys = await openKmsDb(configured, store)
      try {
        const status = await kmsStatusOf(keys.db, configured)
        input.output.result(statusText(status), status)
        return status.problem === null ? 0 : FAILED
      } finally {
        await keys.close()
      }
    })
  },
}

const kmsRotate: Command = {
  name: 'kms rotate',
  kind: 'store',
  summary: 'Rotate the key of the embedded KMS',
  about:
    'The ARN does not change, and the old key material stays, so existing data can still be decrypted.',
  run: (input) =>
    withAuditedEmbeddedKms(input, async ({ auditLog, by, embedded }) => {
      const { kms, id, record } = embedded
      const change = { ...by, action: 'kms.key.rotated', target: id }
      const { KeyId: arn } = await auditLog.around(change, () =>
        kms.as('command-line').rotateKeyOnDemand({ KeyId: id }),
      )
      const version = (await record())?.currentVersion
      input.output.result(`${arn} is at version ${version}\n`, { arn, version })
    }),
}

const kmsAuditVerify: Command = {
  name: 'kms audit verify',
  kind: 'store',
  summary: 'Verify the audit log of the embedded KMS',
  about: `Exits with 1 if lines were changed, removed or truncated. Only the hash of the last record shows
whether the end was removed: store it elsewhere and compare it later.`,
  async run({ env, output }) {
    const file = auditFilePath(settings.parse(env))
    if (!existsSync(file)) {
      throw new Failure('failed', `Audit log ${file} not found: set STRONGROOM_DATA`)
    }
    const { records, last, findings } = await verifyAudit(file)
    const shown = findings
      .slice(0, MAX_FINDINGS)
      .map(({ line, message }) => `${line}: ${message}\n`)
    const rest = findings.length - shown.length
    output.result(
      `${shown.join('')}${rest > 0 ? `and ${rest} more: --json lists all\n` : ''}${records} records in ${file}, ${findings.length === 0 ? 'intact' : 'NOT intact'}; the last has the hash ${last}\n`,
      { file, records, last, findings },
    )
    return findings.length === 0 ? 0 : FAILED
  },
}

export const commands: readonly Command[] = [
  kmsStatus,
  kmsRotate,
  kmsRekey,
  kmsPassphraseSet,
  kmsPassphraseChange,
  kmsPassphraseRemove,
  kmsAuditVerify,
  kmsServe,
]
