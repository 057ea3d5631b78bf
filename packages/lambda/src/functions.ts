/**
 * The functions of a deployment on AWS Lambda, as data: what each does, what starts it, what it may
 * do and which settings it reads. The stack in `infra` and the bundles are made from this list.
 */
import { dataModel as ferryhook } from '@strongroom/ferryhook/data-model'
import { ferryhookSettings } from '@strongroom/ferryhook/settings'
import { eventsTable } from '@strongroom/ferryhook/tables'
import { dataModel as formBridge } from '@strongroom/form-bridge/data-model'
import { formBridgeSettings } from '@strongroom/form-bridge/settings'
import { dataModel as keyStore } from '@strongroom/key-store/data-model'
import type { DataModel, ServiceFunction } from '@strongroom/kit/data-model'
import { serverTable } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { dataModel as sealed } from '@strongroom/sealed/data-model'
import { sealedSettings } from '@strongroom/sealed/settings'
import { serverDataModel as server } from '@strongroom/server/data-model'
import { dataModel as twoKey } from '@strongroom/two-key/data-model'
import { twoKeySettings } from '@strongroom/two-key/settings'
import { type HttpFunctionName, type RouteKey, routeKeys } from './routes.ts'

export interface LambdaFunction {
  /** Also the name of its bundle: `sealed-requests` is in `dist/lambda/sealed-requests.zip`. */
  name: string
  summary: string
  /** The declared functions that it merges; its role allows what they allow together. */
  parts: readonly ServiceFunction[]
  triggers: readonly Trigger[]
  /** Environment variables that it reads, besides those that Lambda sets itself. */
  environment: readonly string[]
  memoryMb: number
  timeoutSeconds: number
}

export type Trigger =
  | {
      kind: 'http'
      routes: readonly RouteKey[]
      /** The setting with the host name where it handles every request, if it is set. */
      originSetting?: string
    }
  /** A function URL with `InvokeMode: RESPONSE_STREAM`, which an HTTP API does not offer. */
  | { kind: 'function-url'; routes: readonly RouteKey[] }
  /** New and changed items whose partition key begins with the prefix. */
  | { kind: 'stream'; table: Table; partitionPrefix: string; batchSize: number }
  | { kind: 'schedule'; rateMinutes: number }

const CONNECTION = ['DYNAMODB_ENDPOINT', 'STRONGROOM_TABLE_PREFIX', 'STRONGROOM_LOG_LEVEL']
const KMS = ['KMS_ENDPOINT', 'KMS_KEY_ARN']
const HTTP = [
  'PUBLIC_URL',
  'STRONGROOM_TRUSTED_PROXIES',
  'STRONGROOM_MAX_BODY_MB',
  'STRONGROOM_MAX_REQUESTS',
  'STRONGROOM_MAX_HOT_REQUESTS',
]
const OPERATORS = ['STRONGROOM_REQUIRE_2FA']

/** Settings that mean nothing on Lambda: they control loops and scans of a server, or name its files. */
const NOT_ON_LAMBDA = new Set([
  'SEALED_LOGO',
  'SEALED_QUOTA_MB',
  'SEALED_SWEEP_MINUTES',
  'SEALED_TOKEN',
  'FERRYHOOK_DELIVER',
])

const settingsOf = (table: object) => Object.keys(table).filter((name) => !NOT_ON_LAMBDA.has(name))

const sealedNames = settingsOf(sealedSettings)
const ferryhookNames = settingsOf(ferryhookSettings)
const formBridgeNames = settingsOf(formBridgeSettings)
const twoKeyNames = settingsOf(twoKeySettings)

/**
 * Jobs have a function of their own, figures of processes mean nothing on Lambda, and only servers and
 * workers check at their start whether a store is an unfinished copy or of a newer version.
 */
const NOT_OF_THE_SERVER_FUNCTION = new Set([
  'run-jobs',
  'write-figures',
  'create-bootstrap-code',
  'store-copy',
  'store-version',
])

const operators = [part(server, 'operators')]
const auditedOperators = [...operators, part(server, 'audit-log')]
const readSecrets = [part(keyStore, 'read-branch-key')]
const sealSecrets = [...readSecrets, part(keyStore, 'create-branch-key')]

export const lambdaFunctions: readonly LambdaFunction[] = [
  {
    name: 'sealed-requests',
    summary: 'Creates, reveals and burns secrets, and serves the page',
    parts: [
      part(sealed, 'create-secret'),
      part(sealed, 'fill-request'),
      part(sealed, 'reveal-secret'),
      part(sealed, 'burn-secret'),
      part(sealed, 'secret-status'),
      part(sealed, 'api-tokens'),
      part(sealed, 'count-figures'),
      serverSecrets('sealed-token', 'sealed-request'),
    ],
    triggers: [{ ...http('sealed-requests'), originSetting: 'SEALED_ORIGIN' }],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...sealedNames],
    memoryMb: 512,
    timeoutSeconds: 15,
  },
  {
    name: 'sealed-operators',
    summary: 'Manages API tokens of Sealed and shows its figures to operators',
    parts: [part(sealed, 'manage-api-tokens'), part(sealed, 'read-figures'), ...auditedOperators],
    triggers: [http('sealed-operators')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...OPERATORS, ...sealedNames],
    memoryMb: 512,
    timeoutSeconds: 15,
  },
  {
    name: 'sealed-sweep',
    summary: 'Ends secrets that have expired or were used up',
    parts: [part(sealed, 'sweep-secrets'), part(sealed, 'count-figures')],
    triggers: [{ kind: 'schedule', rateMinutes: 1 }],
    environment: CONNECTION,
    memoryMb: 256,
    timeoutSeconds: 60,
  },
  {
    name: 'ferryhook-ingest',
    summary: 'Receives webhooks',
    parts: [
      part(ferryhook, 'ingest'),
      ...readSecrets,
      serverSecrets('ferryhook-cursors', 'ferryhook-rates'),
    ],
    triggers: [http('ferryhook-ingest')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...ferryhookNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'ferryhook-api',
    summary: 'Serves accounts, sources, connections, events and replays',
    parts: [
      part(ferryhook, 'api'),
      ...sealSecrets,
      ...auditedOperators,
      serverSecrets(
        'ferryhook-cursors',
        'ferryhook-rates',
        'ferryhook-access-tokens',
        'ferryhook-sign-in',
      ),
    ],
    triggers: [http('ferryhook-api')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...OPERATORS, ...ferryhookNames],
    memoryMb: 1024,
    timeoutSeconds: 29,
  },
  {
    name: 'ferryhook-live',
    summary: 'Streams new events to people who watch a source',
    parts: [part(ferryhook, 'live'), serverSecrets('ferryhook-cursors', 'ferryhook-access-tokens')],
    triggers: [{ kind: 'function-url', routes: routeKeys['ferryhook-live'] }],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...ferryhookNames],
    memoryMb: 512,
    timeoutSeconds: 900,
  },
  {
    name: 'ferryhook-worker',
    summary: 'Routes, delivers, retries and replays events, and meters usage',
    parts: [
      part(ferryhook, 'worker'),
      ...readSecrets,
      serverSecrets('ferryhook-cursors', 'ferryhook-rates'),
    ],
    triggers: [
      { kind: 'stream', table: eventsTable, partitionPrefix: 'DUE#', batchSize: 100 },
      { kind: 'schedule', rateMinutes: 1 },
    ],
    environment: [...CONNECTION, ...KMS, 'PUBLIC_URL', 'SEALED_ORIGIN', ...ferryhookNames],
    memoryMb: 1024,
    timeoutSeconds: 120,
  },
  {
    name: 'form-bridge-register',
    summary: 'Accepts registrations of sites',
    parts: [part(formBridge, 'register'), serverSecrets('form-bridge-addresses')],
    triggers: [http('form-bridge-register')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'form-bridge-exchange',
    summary: 'Exchanges a proved registration for credentials',
    parts: [part(formBridge, 'exchange'), ...sealSecrets, serverSecrets('form-bridge-addresses')],
    triggers: [http('form-bridge-exchange')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'form-bridge-validate',
    summary: 'Validates domains',
    parts: [part(formBridge, 'validate'), serverSecrets('form-bridge-addresses')],
    triggers: [http('form-bridge-validate')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'form-bridge-site',
    summary: 'Serves connected sites',
    parts: [part(formBridge, 'site'), ...readSecrets, serverSecrets('form-bridge-addresses')],
    triggers: [http('form-bridge-site')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'form-bridge-updates',
    summary: 'Answers update checks and serves packages',
    parts: [
      part(formBridge, 'updates'),
      ...readSecrets,
      serverSecrets('form-bridge-addresses', 'form-bridge-downloads'),
    ],
    triggers: [http('form-bridge-updates')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'form-bridge-agency',
    summary: 'Serves agencies',
    parts: [part(formBridge, 'agency'), ...readSecrets, serverSecrets('form-bridge-cursors')],
    triggers: [http('form-bridge-agency')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'form-bridge-publish',
    summary: 'Publishes signed releases',
    parts: [part(formBridge, 'publish'), ...auditedOperators],
    triggers: [http('form-bridge-publish')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...OPERATORS, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'form-bridge-operator',
    summary: 'Manages sites, agencies and limits; looks up what operators ask for',
    parts: [
      part(formBridge, 'operator'),
      part(formBridge, 'diagnosis'),
      ...readSecrets,
      ...auditedOperators,
      serverSecrets('form-bridge-addresses', 'form-bridge-cursors'),
    ],
    triggers: [http('form-bridge-operator')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...OPERATORS, ...formBridgeNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'key-store',
    summary: 'Creates, rotates and lists branch keys for operators',
    parts: [
      part(keyStore, 'create-branch-key'),
      part(keyStore, 'version-branch-key'),
      part(keyStore, 'list-branch-keys'),
      part(keyStore, 'show-branch-key'),
      ...auditedOperators,
      serverSecrets('key-store-cursors'),
    ],
    triggers: [http('key-store')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...OPERATORS],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'two-key-handler',
    summary: 'Verifies Slack requests and sends them to the app',
    // The token of an uninstalled app is deleted together with an entry of the audit log.
    parts: [part(twoKey, 'slack-event-handler'), ...readSecrets, part(server, 'audit-log')],
    triggers: [http('two-key-handler')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...twoKeyNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'two-key-installations',
    summary: 'Manages Slack apps and the bot tokens of workspaces',
    parts: [
      part(twoKey, 'slack-installations'),
      serverSecrets('two-key-installation'),
      ...sealSecrets,
      ...auditedOperators,
    ],
    triggers: [http('two-key-installations')],
    environment: [...CONNECTION, ...KMS, ...HTTP, ...OPERATORS, ...twoKeyNames],
    memoryMb: 512,
    timeoutSeconds: 29,
  },
  {
    name: 'server',
    summary: 'Serves the home page, the docs, the console and what operators administer',
    parts: [
      ...server.functions.filter(({ name }) => !NOT_OF_THE_SERVER_FUNCTION.has(name)),
      part(ferryhook, 'status'),
      part(keyStore, 'list-branch-keys'),
      part(twoKey, 'status'),
    ],
    triggers: [http('server')],
    environment: [
      ...CONNECTION,
      ...KMS,
      ...HTTP,
      ...OPERATORS,
      ...sealedNames,
      ...ferryhookNames,
      ...formBridgeNames,
      ...twoKeyNames,
    ],
    memoryMb: 1024,
    timeoutSeconds: 29,
  },
  {
    name: 'jobs',
    summary: 'Runs the jobs that operators started',
    parts: [
      part(server, 'run-jobs'),
      part(server, 'audit-log'),
      part(keyStore, 'version-branch-key'),
      part(keyStore, 'list-branch-keys'),
    ],
    triggers: [{ kind: 'schedule', rateMinutes: 1 }],
    environment: [...CONNECTION, ...KMS],
    memoryMb: 512,
    timeoutSeconds: 300,
  },
]

function http(name: HttpFunctionName) {
  return { kind: 'http', routes: routeKeys[name] } as const
}

function part({ service, functions }: DataModel, name: string): ServiceFunction {
  const found = functions.find((each) => each.name === name)
  if (!found) throw new TypeError(`${service} declares no function ${name}`)
  return found
}

/** Access to these server secrets alone, where the server itself may use all. */
function serverSecrets(...names: string[]): ServiceFunction {
  const { allows: _allows, ...declared } = part(server, 'server-secrets')
  const leadingKeys = names.map((name) => `SECRET#${name}`)
  return {
    ...declared,
    allows: [{ table: serverTable, actions: ['Query', 'PutItem', 'DeleteItem'], leadingKeys }],
  }
}
