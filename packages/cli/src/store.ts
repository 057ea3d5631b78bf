import { Failure } from '@strongroom/kit/errors'
import { systemClock } from '@strongroom/platform/clock'
import { serverTable } from '@strongroom/kit/server-table'
import { type OpenEmbeddedKms, openEmbeddedKms } from '@strongroom/server/kms/embedded'
import { kmsKind } from '@strongroom/server/kms/open'
import { type Settings, settings } from '@strongroom/server/settings'
import { openStore, type Store } from '@strongroom/server/store'
import { requireTables } from '@strongroom/server/tables'
import { type CommandInput, type Output, usageError } from './command.ts'
import { askMasterKeyPassphrase } from './input.ts'

/** Opens the configured store for one command and always closes it. */
export async function withStore<T>(
  { env, mayCreate, output }: CommandInput,
  work: (store: Store, configured: Settings) => Promise<T>,
): Promise<T> {
  const configured = settings.parse(env)
  const store = await openStore(configured, { mayCreate, onCreate: reportCreated(output) })
  try {
    return await work(store, configured)
  } finally {
    await store.close()
  }
}

/** For `onCreate`: people must notice if a command used another directory than they meant. */
export function reportCreated(output: Output): (location: string) => void {
  return (location) => output.notice(`Created a store in ${location}`)
}

/** For commands that only the embedded KMS supports. */
export async function withEmbeddedKms<T>(
  input: CommandInput,
  work: (kms: OpenEmbeddedKms, configured: Settings) => Promise<T>,
): Promise<T> {
  requireEmbeddedKms(settings.parse(input.env))
  return withStore(input, async (store, configured) => {
    await requireTables(store, [serverTable])
    const kms = await openEmbeddedKms(store.db, configured, kmsOptions(input))
    try {
      return await work(kms, configured)
    } finally {
      kms.close()
    }
  })
}

export function requireEmbeddedKms(configured: Settings): void {
  if (kmsKind(configured) === 'embedded') return
  throw new Failure(
    'failed',
    'This command requires the embedded KMS, but another KMS is configured: use its own tools, or unset STRONGROOM_KMS and KMS_ENDPOINT',
  )
}

function kmsOptions({ json, mayCreate }: CommandInput) {
  return { clock: systemClock, mayCreate, askPassphrase: askMasterKeyPassphrase({ json }) }
}

/** The credentials that clients of this server must sign requests with. */
export function signingCredentials(env: CommandInput['env']) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey }
  throw usageError(
    'Requests must be signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY here and in the clients',
  )
}
