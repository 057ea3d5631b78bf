/** One side of a copy: its store and its KMS, as the options describe them. */
import { realpathSync } from 'node:fs'
import type { Clock } from '@strongroom/platform/clock'
import { type OpenKms, openKms } from '@strongroom/server/kms/open'
import { type Settings, settings } from '@strongroom/server/settings'
import { openStore, type Store } from '@strongroom/server/store'
import { type CommandInput, type CommandOption, usageError } from '../command.ts'
import { askMasterKeyPassphrase } from '../input.ts'
import { reportCreated } from '../store.ts'
import { explainFailures } from './failures.ts'
import { inOptions, type SideName } from './option-names.ts'

export interface Side {
  name: SideName
  /** `source` or `target`, for messages. */
  role: string
  /** Where it is, for people; the same for each run of a copy. */
  label: string
  settings: Settings
  store: Store
}

/** The options of both sides. */
export const sideOptions: Readonly<Record<string, CommandOption>> = {
  from: { value: 'STORE', summary: 'Source: a data directory, an endpoint (http://…), or aws' },
  to: { value: 'STORE', summary: 'Target: a data directory, an endpoint (http://…), or aws' },
  'from-prefix': { value: 'PREFIX', summary: 'Prefix of the table names of the source' },
  'to-prefix': { value: 'PREFIX', summary: 'Prefix of the table names of the target' },
  'from-kms': {
    value: 'KMS',
    summary: 'KMS of the source: embedded (a directory has it), an endpoint, or aws',
  },
  'to-kms': {
    value: 'KMS',
    summary: 'KMS of the target: embedded (a directory has it), an endpoint, or aws',
  },
  'from-key': { value: 'ARN', summary: 'KMS key of the source, unless its KMS is embedded' },
  'to-key': { value: 'ARN', summary: 'KMS key of the target, unless its KMS is embedded' },
  'from-master-key': {
    value: 'FILE',
    summary: 'Master key of the source (keys/master.key in the directory)',
  },
  'to-master-key': {
    value: 'FILE',
    summary: 'Master key of the target (keys/master.key in the directory)',
  },
}

/** Settings that are not about one side. All others come from the options. */
const SHARED = [
  'AWS_REGION',
  'STRONGROOM_RECOVERY_DAYS',
  'STRONGROOM_MASTER_KEY_PASSPHRASE',
  'STRONGROOM_MASTER_KEY_PASSPHRASE_FILE',
]

async function sideSettings({ options, env }: CommandInput, side: SideName): Promise<Settings> {
  const option = (name: string) => {
    const value = options[name === '' ? side : `${side}-${name}`]
    return typeof value === 'string' ? value : undefined
  }
  const location = option('')
  if (location === undefined) {
    throw usageError(
      `--${side} is missing: pass a data directory, an endpoint such as http://127.0.0.1:8000, or aws`,
    )
  }
  const shared = Object.fromEntries(SHARED.map((name) => [name, env[name]]))
  return inOptions(side, async () =>
    settings.parse({
      ...shared,
      ...storeSettings(location),
      ...kmsSettings(side, location, option('kms')),
      STRONGROOM_TABLE_PREFIX: option('prefix'),
      KMS_KEY_ARN: option('key'),
      STRONGROOM_MASTER_KEY_FILE: option('master-key'),
    }),
  )
}

const AWS = /^aws(?::([a-z0-9-]+))?$/
const ENDPOINT = /^https?:\/\//

function storeSettings(location: string): Record<string, string> {
  if (ENDPOINT.test(location)) return { DYNAMODB_ENDPOINT: location }
  const aws = AWS.exec(location)
  if (!aws) return { STRONGROOM_STORE: 'embedded', STRONGROOM_DATA: location }
  return { STRONGROOM_STORE: 'aws', ...(aws[1] !== undefined && { AWS_REGION: aws[1] }) }
}

function kmsSettings(
  side: SideName,
  location: string,
  kms: string | undefined,
): Record<string, string> {
  if (kms === undefined) {
    if (!ENDPOINT.test(location)) return {}
    throw usageError(
      `--${side} ${location} needs a KMS: pass --${side}-kms with an endpoint or aws, and --${side}-key`,
    )
  }
  if (ENDPOINT.test(kms)) return { KMS_ENDPOINT: kms }
  if (kms === 'aws' || kms === 'embedded') return { STRONGROOM_KMS: kms }
  throw usageError(`--${side}-kms must be embedded, aws, or an endpoint such as http://…`)
}

/** Opens the store. The source must exist; a directory as the target is created. */
export async function openSide(input: CommandInput, name: SideName): Promise<Side> {
  const configured = await sideSettings(input, name)
  const role = name === 'from' ? 'source' : 'target'
  const store = await inOptions(name, () =>
    openStore(configured, {
      mayCreate: name === 'to',
      onCreate: reportCreated(input.output),
    }),
  )
  const prefix = configured.STRONGROOM_TABLE_PREFIX
  const place = store.kind === 'aws' ? `DynamoDB in ${store.location}` : store.location
  const label = prefix === '' ? place : `${place} with prefix ${prefix}`
  return {
    name,
    role,
    label,
    settings: configured,
    store: { ...store, db: explainFailures(store.db, `The ${role}, ${label},`) },
  }
}

export function openSideKms(input: CommandInput, side: Side, clock: Clock): Promise<OpenKms> {
  return inOptions(side.name, () =>
    openKms(side.settings, side.store, { clock, askPassphrase: askMasterKeyPassphrase(input) }),
  )
}

/** Copying a store onto itself would delete it with --overwrite. */
export function requireDifferent(from: Side, to: Side): void {
  if (identityOf(from) !== identityOf(to)) return
  throw usageError('--from and --to are the same store: choose another target')
}

function identityOf({ store, settings: configured }: Side): string {
  const place = store.kind === 'embedded' ? realpathSync(store.location) : store.location
  return [store.kind, place, configured.STRONGROOM_TABLE_PREFIX].join('\n')
}
