/**
 * The roles of the template against the calls that the tests of packages/lambda recorded: no call is
 * denied, and nothing is allowed that no call uses.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lambdaFunctions } from '@strongroom/lambda/functions'
import { beforeAll, describe, expect, test } from 'vitest'
import { pascalCase } from '../src/functions.ts'
import { ON_BEHALF_OF_THE_FUNCTION } from '../src/roles.ts'
import {
  findDenied,
  findUnused,
  type RecordedCall,
  requestOf,
  type Role,
  type Statement,
  text,
} from './support/policy-check.ts'
import { resolver } from './support/resolve.ts'
import { synthesize, type Template } from './support/synthesize.ts'

/** Where `RECORD_CALLS` made the tests of packages/lambda write. */
const recordings =
  process.env['RECORD_CALLS'] ??
  fileURLToPath(new URL('../../dist/recorded-calls', import.meta.url))

const onBehalf: ReadonlySet<string> = new Set(Object.keys(ON_BEHALF_OF_THE_FUNCTION))

let template: Template
let resolve: (value: unknown) => unknown

beforeAll(() => {
  template = synthesize()
  resolve = resolver(template)
})

function roleOf(name: string): Role {
  const [policy] = template.Resources[`${pascalCase(name)}Role`]?.Properties.Policies ?? []
  const { Statement: statements } = resolve(policy.PolicyDocument) as { Statement: Statement[] }
  const keyPolicy = resolve(template.Resources['Key']?.Properties.KeyPolicy)
  return { statements, onBehalf, keyPolicy }
}

const key = () => String(resolve({ 'Fn::GetAtt': ['Key', 'Arn'] }))
const table = (name: string) => `arn:aws:dynamodb:eu-central-1:111122223333:table/${name}`
const requestsOf = (calls: readonly RecordedCall[]) =>
  calls.map((call) => requestOf(call, { table, key: key() }))

function readCalls(name: string): RecordedCall[] {
  return readFileSync(join(recordings, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedCall)
}

const isRecorded = existsSync(recordings)
if (!isRecorded && process.env['REQUIRE_RECORDED_CALLS'])
  throw new Error(
    `No recorded calls in ${recordings}: run the tests of packages/lambda with RECORD_CALLS first`,
  )

describe.skipIf(!isRecorded)('the recorded calls', () => {
  test.each(lambdaFunctions.map(({ name }) => name))(
    'of %s are allowed by its role, which allows nothing else',
    async (name) => {
      const requests = requestsOf(readCalls(name))
      const role = roleOf(name)
      expect(await findDenied(role, requests)).toEqual([])
      expect((await findUnused(role, requests)).map(text)).toEqual([])
    },
  )
})

describe('the check of a role', () => {
  const call = (
    action: string,
    more: Partial<RecordedCall> = { leadingKeys: ['OPERATOR#ada'] },
  ): RecordedCall => ({
    function: 'sample',
    service: 'dynamodb',
    action,
    resources: ['strongroom-server'],
    ...more,
  })
  const decrypt = call('Decrypt', { service: 'kms', resources: ['arn:any'] })
  const calls = () => requestsOf([call('GetItem'), call('UpdateItem'), decrypt])
  const role = (...more: Statement[]): Role => ({
    ...roleOf('server'),
    statements: [
      {
        Effect: 'Allow',
        Action: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
        Resource: [table('strongroom-server')],
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['OPERATOR#*'] } },
      },
      { Effect: 'Allow', Action: ['kms:Decrypt'], Resource: [key()] },
      ...more,
    ],
  })

  test('finds nothing in a role that allows what is called', async () => {
    expect(await findDenied(role(), calls())).toEqual([])
    expect(await findUnused(role(), calls())).toEqual([])
  })

  test('finds a missing action, partition, index and key', async () => {
    const missing = requestsOf([
      call('PutItem'),
      call('GetItem', { leadingKeys: ['SECRET#one'] }),
      call('Query', { index: 'GSI1', leadingKeys: ['OPERATOR#ada'] }),
      call('Encrypt', { service: 'kms', resources: ['arn:any'] }),
    ])
    expect(await findDenied(role(), [...calls(), ...missing])).toEqual([
      'dynamodb:PutItem on table/strongroom-server of OPERATOR#ada',
      'dynamodb:GetItem on table/strongroom-server of SECRET#one',
      'dynamodb:Query on table/strongroom-server/index/GSI1 of OPERATOR#ada',
      'kms:Encrypt on key/Key',
    ])
  })

  test('finds a superfluous action, partition, table and key action', async () => {
    const superfluous = role(
      {
        Effect: 'Allow',
        Action: ['dynamodb:GetItem'],
        Resource: [table('strongroom-server')],
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['SECRET#*'] } },
      },
      { Effect: 'Allow', Action: ['dynamodb:Scan'], Resource: [table('sealed-secrets')] },
      { Effect: 'Allow', Action: ['kms:Encrypt'], Resource: [key()] },
    )
    expect((await findUnused(superfluous, calls())).map(text)).toEqual([
      'dynamodb:GetItem on table/strongroom-server of SECRET#*',
      'dynamodb:Scan on table/sealed-secrets',
      'kms:Encrypt on key/Key',
    ])
  })

  test('does not expect calls for what AWS does on behalf of a function', async () => {
    const log = 'arn:aws:logs:eu-central-1:111122223333:log-group:/aws/lambda/sample:*'
    const statement = { Effect: 'Allow', Action: ['logs:PutLogEvents'], Resource: [log] }
    expect(await findUnused(role({ ...statement, Sid: 'WriteLogs' }), calls())).toEqual([])
    expect(await findUnused(role(statement), calls())).toHaveLength(1)
  })

  test('allows a batch whose keys match several patterns', async () => {
    const batch = call('BatchGetItem', { leadingKeys: ['OPERATOR#ada', 'SECRET#one'] })
    const statement: Statement = {
      Effect: 'Allow',
      Action: ['dynamodb:BatchGetItem'],
      Resource: [table('strongroom-server')],
      Condition: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['OPERATOR#*', 'SECRET#*'] },
      },
    }
    const requests = [...calls(), ...requestsOf([batch])]
    expect(await findDenied(role(statement), requests)).toEqual([])
    expect(await findUnused(role(statement), requests)).toEqual([])
  })

  test('knows a reason for everything that AWS does on behalf of a function', () => {
    const used = new Set(
      lambdaFunctions.flatMap(({ name }) => roleOf(name).statements.map(({ Sid }) => Sid)),
    )
    expect([...used].filter((sid) => sid !== undefined).toSorted()).toEqual(
      Object.keys(ON_BEHALF_OF_THE_FUNCTION).toSorted(),
    )
  })
})
