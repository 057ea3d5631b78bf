/** `strongroom kms master-key create`: for a first start that gets its master key as a secret file. */
import { createMasterKeyFile } from '@strongroom/kms/master-key/file'
import { masterKeyPath } from '@strongroom/server/kms/master-key'
import { settings } from '@strongroom/server/settings'
import type { Command } from '../command.ts'

export const kmsMasterKeyCreate: Command = {
  name: 'kms master-key create',
  kind: 'standalone',
  args: '[FILE]',
  summary: 'Create a master key file before the first start',
  about: `For systemd credentials and container secrets, which must exist before the server starts and cannot be
written by it. FILE is by default that of STRONGROOM_MASTER_KEY_FILE. It is never replaced. If
STRONGROOM_MASTER_KEY_PASSPHRASE is set, the passphrase protects it.`,
  async run({ args, env, output }) {
    const configured = settings.parse({
      ...env,
      ...(args[0] !== undefined && { STRONGROOM_MASTER_KEY_FILE: args[0] }),
    })
    const file = masterKeyPath(configured)
    const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = configured
    await createMasterKeyFile(file, { passphrase })
    output.result(
      `${file} created. Save a copy elsewhere: without it, nothing that the KMS encrypts can be decrypted\n`,
      { file, protection: passphrase === undefined ? 'none' : 'passphrase' },
    )
  },
}
