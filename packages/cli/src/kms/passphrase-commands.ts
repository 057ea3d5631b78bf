/** `strongroom kms passphrase …`: sets, changes and removes the passphrase of the master key file. */
import { Failure } from '@strongroom/kit/errors'
import { changePassphrase } from '@strongroom/kms/master-key/file'
import { inspectMasterKey, masterKeyPath } from '@strongroom/server/kms/master-key'
import { settings, type Settings } from '@strongroom/server/settings'
import { type Command, type CommandInput, usageError } from '../command.ts'
import { newPassphrase, askMasterKeyPassphrase } from '../input.ts'
import { withAuditedStore } from '../server/audited-store.ts'

const fd = {
  value: 'N',
  summary: 'Read the new passphrase from this file descriptor instead of asking',
}

export const kmsPassphraseSet: Command = {
  name: 'kms passphrase set',
  kind: 'store',
  summary: 'Protect the master key with a passphrase',
  options: { fd },
  about: `Asks for it twice. Without a terminal, pass it with --fd or in STRONGROOM_MASTER_KEY_PASSPHRASE.
Every start then requires it.`,
  async run(input) {
    const configured = settings.parse(input.env)
    await requireProtection(configured, 'none')
    const fromEnvironment = configured.STRONGROOM_MASTER_KEY_PASSPHRASE
    const to =
      input.options['fd'] === undefined && fromEnvironment !== undefined
        ? fromEnvironment
        : await newPassphrase(input.options['fd'])
    await change(input, configured, { to })
  },
}

export const kmsPassphraseChange: Command = {
  name: 'kms passphrase change',
  kind: 'store',
  summary: 'Change the passphrase of the master key',
  options: { fd },
  about: 'Asks for the current passphrase, or reads it from STRONGROOM_MASTER_KEY_PASSPHRASE.',
  async run(input) {
    const configured = settings.parse(input.env)
    await requireProtection(configured, 'passphrase')
    const from = await currentPassphrase(input, configured)
    await change(input, configured, { from, to: await newPassphrase(input.options['fd']) })
  },
}

export const kmsPassphraseRemove: Command = {
  name: 'kms passphrase remove',
  kind: 'store',
  summary: 'Remove the passphrase of the master key',
  about: 'Asks for the current passphrase, or reads it from STRONGROOM_MASTER_KEY_PASSPHRASE.',
  async run(input) {
    const configured = settings.parse(input.env)
    await requireProtection(configured, 'passphrase')
    await change(input, configured, { from: await currentPassphrase(input, configured) })
  },
}

async function change(
  input: CommandInput,
  configured: Settings,
  { from, to }: { from?: string; to?: string },
): Promise<void> {
  const file = masterKeyPath(configured)
  const verb = to === undefined ? 'removed' : from === undefined ? 'set' : 'changed'
  await withAuditedStore(input, [], ({ auditLog, by }) =>
    auditLog.around({ ...by, action: `kms.passphrase.${verb}`, target: file }, () =>
      changePassphrase(file, { from, to }),
    ),
  )
  const protection = to === undefined ? 'none' : 'passphrase'
  input.output.result(
    to === undefined
      ? `${file} is no longer protected by a passphrase\n`
      : `${file} is protected by the passphrase: pass it to the server in STRONGROOM_MASTER_KEY_PASSPHRASE_FILE\n`,
    { file, protection },
  )
}

async function currentPassphrase({ json }: CommandInput, configured: Settings): Promise<string> {
  const { STRONGROOM_MASTER_KEY_PASSPHRASE: passphrase } = configured
  if (passphrase !== undefined) return passphrase
  const ask = askMasterKeyPassphrase({ json })
  if (ask) return ask()
  throw usageError(
    'No terminal to ask on: pass the current passphrase in STRONGROOM_MASTER_KEY_PASSPHRASE_FILE',
  )
}

async function requireProtection(
  configured: Settings,
  wanted: 'none' | 'passphrase',
): Promise<void> {
  const file = masterKeyPath(configured)
  const found = await inspectMasterKey({
    ...configured,
    STRONGROOM_MASTER_KEY_PASSPHRASE: undefined,
  })
  if (!found) {
    throw new Failure('failed', `Master key ${file} not found: the first start creates it`)
  }
  if (found.protection === wanted) return
  throw new Failure(
    'failed',
    wanted === 'none'
      ? `${file} is already protected by a passphrase: use "strongroom kms passphrase change"`
      : `${file} is not protected by a passphrase: use "strongroom kms passphrase set"`,
  )
}
