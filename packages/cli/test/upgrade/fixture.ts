/** Data directories that earlier builds wrote (`make-fixture.mjs`), and a server of this version on them. */
import { execFileSync } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConversionProgress } from '@strongroom/engine/storage/conversions/progress'
import { openKeyStoreOn } from '@strongroom/key-store/start'
import { silentLog } from '@strongroom/kit/log'
import type { Clock } from '@strongroom/platform/clock'
import { openKms } from '@strongroom/server/kms/open'
import { type RunningServer, serve } from '@strongroom/server/serve'
import { services } from '@strongroom/server/services'
import { settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { onTestFinished } from 'vitest'
import { emptyDirectory } from '../strongroom.ts'

/** What every fixture contains. */
export interface Known {
  format: number
  madeAt: string
  /** Where the server was that made it; links begin with it. */
  url: string
  operatorToken: string
  link: string
  secret: string
  beaconKey: string
}

export interface Fixture<Contents> {
  directory: string
  known: Known & Contents
  clock: Clock & { advance(ms: number): void }
}

/** A copy of a data directory, and a clock that continues when it was made, so that nothing has expired. */
export async function copyFixture<Contents = unknown>(name: string): Promise<Fixture<Contents>> {
  const path = (file: string) => fileURLToPath(new URL(`${name}/${file}`, import.meta.url))
  const directory = join(await emptyDirectory(), 'data')
  await mkdir(directory)
  execFileSync('tar', ['-xzf', path('data.tar.gz'), '-C', directory])
  const known = JSON.parse(await readFile(path('known.json'), 'utf8')) as Known & Contents
  let behindMs = Date.now() - Date.parse(known.madeAt)
  return {
    directory,
    known,
    clock: { now: () => Date.now() - behindMs, advance: (ms) => void (behindMs -= ms) },
  }
}

export interface ServerOnFixture extends RunningServer {
  conversions: readonly ConversionProgress[]
}

export async function serveFixture(
  { directory, clock }: Pick<Fixture<unknown>, 'directory' | 'clock'>,
  env: Record<string, string> = {},
): Promise<ServerOnFixture> {
  const conversions: ConversionProgress[] = []
  const server = await serve({
    settings: settings.parse({ PORT: '0', STRONGROOM_DATA: directory, ...env }),
    services,
    log: silentLog,
    clock,
    onConversion: (progress) => void conversions.push(progress),
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= server.close())
  onTestFinished(close)
  return { ...server, conversions, close }
}

/** The beacon key of a branch key, decrypted by the KMS of the directory. */
export async function revealBeaconKey(
  { directory, clock }: Pick<Fixture<unknown>, 'directory' | 'clock'>,
  branchKeyIdentifier: string,
): Promise<string> {
  const configured = settings.parse({ STRONGROOM_DATA: directory })
  const store = await openStore(configured, { mayCreate: false, clock })
  try {
    const kms = await openKms(configured, store, { clock })
    try {
      const keyStore = openKeyStoreOn({ db: store.db, clock, kmsKey: kms.key })
      const { beaconKey } = await keyStore.getBeaconKey({ branchKeyIdentifier })
      return Buffer.from(beaconKey).toString('base64')
    } finally {
      await kms.close()
    }
  } finally {
    await store.close()
  }
}
