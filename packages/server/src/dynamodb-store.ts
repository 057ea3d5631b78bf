/** DynamoDB as a store: at an endpoint or in AWS. Opening it makes no call. */
import { Failure } from '@strongroom/kit/errors'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import { retryingDb } from '@strongroom/kit/retrying-db'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'

/** Where the SDK looks for credentials. If one is set, the endpoint needs real ones. */
const CREDENTIALS = [
  'AWS_ACCESS_KEY_ID',
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
]

export async function openEndpoint(endpoint: string, settings: Settings): Promise<Store> {
  const hasCredentials = CREDENTIALS.some((name) => process.env[name] !== undefined)
  return openDynamoDb(settings, {
    kind: 'endpoint',
    label: 'DynamoDB endpoint',
    detail: 'set by DYNAMODB_ENDPOINT',
    location: endpoint,
    config: {
      endpoint,
      region: settings.AWS_REGION ?? 'us-east-1',
      // The SDK requires credentials, and local endpoints accept any.
      ...(!hasCredentials && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    },
  })
}

export async function openAws(settings: Settings): Promise<Store> {
  const { AWS_REGION: region } = settings
  if (region === undefined) {
    throw new Failure('failed', 'STRONGROOM_STORE=aws needs a region: set AWS_REGION')
  }
  return openDynamoDb(settings, {
    kind: 'aws',
    label: 'DynamoDB',
    detail: region,
    location: region,
    config: { region },
  })
}

async function openDynamoDb(
  { STRONGROOM_TABLE_PREFIX: prefix }: Settings,
  store: Pick<Store, 'kind' | 'label' | 'detail' | 'location'> & { config: DynamoDbConfig },
): Promise<Store> {
  // Loaded only if needed: the SDK would be most of what a start loads.
  const { createAwsDb } = await import('@strongroom/kit/aws-db')
  const { config, ...description } = store
  const aws = createAwsDb(config)
  return {
    ...description,
    db: prefixTables(retryingDb(aws), prefix),
    check: () => aws.ping(),
    close: async () => aws.close(),
  }
}

interface DynamoDbConfig {
  region: string
  endpoint?: string
  credentials?: { accessKeyId: string; secretAccessKey: string }
}
