import type { ConversionProgress } from '@strongroom/engine/storage/conversions/progress'
import { Failure } from '@strongroom/kit/errors'
import { systemClock } from '@strongroom/platform/clock'
import { serverTable } from '@strongroom/kit/server-table'
import type { OpenEmbeddedKms } from '@strongroom/server/kms/embedded'
import { openLocalKms } from '@strongroom/server/kms/local'
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
  const store = await openStore(configured, {
    mayCreate,
    onCreate: reportCreated(output),
    onConversion: reportConversion(output),
  })
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

/** For `onConversion`: what happens to the data directory, and how far it is. */
export function reportConversion(output: Output): (progress: ConversionProgress) => void {
  let shown = ''
  return (progress) => {
    if (progress.kind === 'waiting') {
      output.notice(`Waiting: process ${progress.pid} is converting the data directory`)
    } else if (progress.kind === 'copying') {
      output.notice(
        `Converting the data directory from format ${progress.from} to ${progress.to}. Copying it to ${progress.backup} first`,
      )
    } else if (progress.kind === 'converting') {
      const { to, summary, done, total } = progress
      const share = total ? ` (${Math.min(100, Math.floor((100 * done) / total))} %)` : ''
      const line = `Format ${to} ${summary}${share}`
      if (line !== shown) output.progress(line)
      shown = line
    } else {
      output.notice(
        `Converted the data directory to format ${progress.to}. Delete ${progress.backup} when you will not go back to the older version`,
      )
    }
  }
}

/** For commands that only the embedded KMS supports. */
export async function withEmbeddedKms<T>(
  input: CommandInput,
  work: (kms: Omit<OpenEmbeddedKms, 'close'>, configured: Settings) => Promise<T>,
): Promise<T> {
  requireEmbeddedKms(settings.parse(input.env))
  return withStore(input, async (store, configured) => {
    await requireTables(store, [serverTable])
    const { json } = input
    const askPassphrase = askMasterKeyPassphrase({ json })
    const kms = await openLocalKms(configured, store, { clock: systemClock, askPassphrase })
    try {
      return await work(kms, configured)
    } finally {
      await kms.close()
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

/** The credentials that clients of this server must sign requests with. */
export function signingCredentials(env: CommandInput['env']) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey }
  throw usageError(
    'Requests must be signed: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY here and in the clients',
  )
}
