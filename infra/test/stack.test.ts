import { logicalId } from '@strongroom/kit/cloudformation'
import { lambdaFunctions } from '@strongroom/lambda/functions'
import { everyTable } from '@strongroom/server/data-model'
import { beforeAll, describe, expect, test } from 'vitest'
import { REQUIRED, resourcesOf, synthesize, type Template } from './support/synthesize.ts'

const FARGATE = {
  ...REQUIRED,
  worker: 'fargate',
  workerImage: '111122223333.dkr.ecr.eu-central-1.amazonaws.com/strongroom:0.1.0',
}

const MAX_TEMPLATE_BYTES = 1_000_000
const MAX_RESOURCES = 500
/** Of all inline policies of a role, without spaces. */
const MAX_POLICY_CHARACTERS = 10_240

let template: Template
let fargate: Template

beforeAll(() => {
  template = synthesize()
  fargate = synthesize(FARGATE)
})

const lines = (value: object) => `${JSON.stringify(value, null, 2)}\n`

/** `npm test -- --update` writes them, and the difference shows what a change does to a deployment. */
describe('the template', () => {
  test('is the one in test/golden/template.json', async () => {
    await expect(lines(template)).toMatchFileSnapshot('golden/template.json')
  })

  test('with the worker on Fargate differs as in test/golden/fargate.json', async () => {
    const removed = Object.keys(template.Resources).filter((id) => !(id in fargate.Resources))
    const added = Object.fromEntries(
      Object.entries(fargate.Resources).filter(
        ([id, resource]) => JSON.stringify(template.Resources[id]) !== JSON.stringify(resource),
      ),
    )
    await expect(lines({ removed, added })).toMatchFileSnapshot('golden/fargate.json')
  })

  test('is the same each time', () => {
    expect(synthesize()).toEqual(template)
  })

  test('is within the limits of CloudFormation', () => {
    for (const each of [template, fargate]) {
      expect(Buffer.byteLength(lines(each))).toBeLessThan(MAX_TEMPLATE_BYTES)
      expect(Object.keys(each.Resources).length).toBeLessThan(MAX_RESOURCES)
    }
  })

  test('has no parameter but the one of the CDK itself', () => {
    expect(Object.keys(template.Parameters)).toEqual(['BootstrapVersion'])
  })
})

describe('the tables', () => {
  test('are those that are declared, with TTL, recovery and streams only where declared', () => {
    expect(resourcesOf(template, 'AWS::DynamoDB::Table')).toHaveLength(everyTable.length)
    for (const table of everyTable) {
      const { Properties } = template.Resources[logicalId(table)] ?? {}
      expect(Properties.TableName).toBe(table.name)
      expect(Properties.TimeToLiveSpecification?.AttributeName).toBe(table.ttl)
      expect(Properties.PointInTimeRecoverySpecification).toEqual({
        PointInTimeRecoveryEnabled: table.pointInTimeRecovery,
      })
      expect(Properties.StreamSpecification?.StreamViewType).toBe(table.stream)
    }
  })

  test('include sealed-secrets without recovery and without a stream', () => {
    const { Properties } = template.Resources['SecretsTable'] ?? {}
    expect(Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled).toBe(false)
    expect(Properties.StreamSpecification).toBeUndefined()
  })

  test('and keys outlive the stack; tables are protected against deletion, keys are rotated', () => {
    for (const type of ['AWS::DynamoDB::Table', 'AWS::KMS::Key']) {
      for (const [id, resource] of resourcesOf(template, type)) {
        const { DeletionPolicy, UpdateReplacePolicy, Properties } = resource
        expect([id, DeletionPolicy, UpdateReplacePolicy]).toEqual([id, 'Retain', 'Retain'])
        const isProtected = Properties.DeletionProtectionEnabled ?? Properties.EnableKeyRotation
        expect([id, isProtected]).toEqual([id, true])
      }
    }
  })

  test('are encrypted by the key of the customer, except two without secrets', () => {
    const others = resourcesOf(template, 'AWS::DynamoDB::Table')
      .filter(([, { Properties }]) => Properties.SSESpecification.SSEType !== 'KMS')
      .map(([, { Properties }]) => String(Properties.TableName))
    expect(others.toSorted()).toEqual(['slack-event-dedupe', 'slack-existence-check-cache'])
  })
})

describe('the functions', () => {
  test('each have a role and a log group of their own, with retention', () => {
    const roles = new Set<string>()
    for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
      roles.add(JSON.stringify(Properties.Role))
      const group = template.Resources[Properties.LoggingConfig.LogGroup.Ref]
      expect(group?.Properties.RetentionInDays).toBe(30)
    }
    expect(roles.size).toBe(lambdaFunctions.length)
  })

  test('get only environment variables that they read', () => {
    for (const { name, environment } of lambdaFunctions) {
      const [found] = resourcesOf(template, 'AWS::Lambda::Function').filter(
        ([, { Properties }]) => Properties.FunctionName === `strongroom-${name}`,
      )
      const names = Object.keys(found?.[1].Properties.Environment.Variables)
      expect(names.filter((each) => !environment.includes(each))).toEqual([])
    }
  })

  test('have every declared route, schedule, stream and function URL', () => {
    const triggers = lambdaFunctions.flatMap((each) => each.triggers)
    const routes = triggers.flatMap((each) => (each.kind === 'http' ? each.routes : []))
    expect(
      resourcesOf(template, 'AWS::ApiGatewayV2::Route')
        .map(([, { Properties }]) => Properties.RouteKey as string)
        .toSorted(),
    ).toEqual(routes.toSorted())
    const count = (kind: string) => triggers.filter((each) => each.kind === kind).length
    expect(resourcesOf(template, 'AWS::Events::Rule')).toHaveLength(count('schedule'))
    expect(resourcesOf(template, 'AWS::Lambda::Url')).toHaveLength(count('function-url'))
    const [mapping, ...others] = resourcesOf(template, 'AWS::Lambda::EventSourceMapping')
    expect(others).toHaveLength(count('stream') - 1)
    expect(JSON.parse(mapping?.[1].Properties.FilterCriteria.Filters[0].Pattern)).toEqual({
      eventName: ['INSERT', 'MODIFY'],
      dynamodb: { Keys: { PK: { S: [{ prefix: 'DUE#' }] } } },
    })
  })

  test('are throttled by API Gateway, webhooks apart from the rest', () => {
    const { Properties } = template.Resources['ApiStage'] ?? {}
    expect(Properties.DefaultRouteSettings.ThrottlingRateLimit).toBe(200)
    expect(Properties.RouteSettings['ANY /in/{sourceId}'].ThrottlingRateLimit).toBe(200)
  })

  test('end before API Gateway gives up', () => {
    const late = lambdaFunctions.filter(
      ({ triggers, timeoutSeconds }) =>
        timeoutSeconds >= 30 && triggers.some(({ kind }) => kind === 'http'),
    )
    expect(late).toEqual([])
  })
})

/** Resources that IAM cannot name, and the wildcards behind the name of a resource. */
const ALLOWED_WILDCARDS: Readonly<Record<string, string>> = {
  'dynamodb:ListStreams': 'has no resources in IAM',
  'dynamodb:ListTables': 'has no resources in IAM',
  'ecr:GetAuthorizationToken': 'has no resources in IAM',
}

describe('the roles', () => {
  interface Statement {
    Action: string | string[]
    Resource: unknown
  }

  const policies = () =>
    [template, fargate].flatMap((each) =>
      resourcesOf(each, 'AWS::IAM::Role').flatMap(([id, { Properties }]) => {
        expect(Properties.ManagedPolicyArns).toBeUndefined()
        return (Properties.Policies as { PolicyDocument: { Statement: Statement[] } }[]).map(
          ({ PolicyDocument }) => ({ id, statements: PolicyDocument.Statement }),
        )
      }),
    )

  test('name the resources of each statement, except of actions that have none', () => {
    for (const { id, statements } of policies()) {
      for (const { Action, Resource } of statements) {
        const isWild = [Resource].flat().some((each) => JSON.stringify(each).includes('*'))
        if (!isWild) continue
        const others = [Action].flat().filter((action) => !(action in ALLOWED_WILDCARDS))
        expect([id, others]).toEqual([id, []])
      }
    }
  })

  test('have no wildcard actions but those of the key of the tables', () => {
    const wild = policies().flatMap(({ statements }) =>
      statements.flatMap(({ Action }) => [Action].flat().filter((each) => each.includes('*'))),
    )
    expect([...new Set(wild)].toSorted()).toEqual(['kms:GenerateDataKey*', 'kms:ReEncrypt*'])
  })

  test('are within the size limit of inline policies', () => {
    for (const { id, statements } of policies())
      expect([id, JSON.stringify(statements).length < MAX_POLICY_CHARACTERS]).toEqual([id, true])
  })
})

describe('the alarms', () => {
  test('all go to one topic, which sends mail', () => {
    const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm')
    for (const [id, { Properties }] of alarms)
      expect([id, Properties.AlarmActions]).toEqual([id, [{ Ref: 'Alarms' }]])
    expect(template.Resources['AlarmMail']?.Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    })
  })

  test('cover errors, throttles and latency of each function', () => {
    for (const [id] of resourcesOf(template, 'AWS::Lambda::Function')) {
      const name = id.replace(/Function$/, '')
      const missing = ['Errors', 'Throttles', 'Slow'].filter(
        (kind) => !(`${name}${kind}Alarm` in template.Resources),
      )
      // A live tail runs as long as somebody watches.
      expect([name, missing]).toEqual([name, name === 'FerryhookLive' ? ['Slow'] : []])
    }
  })

  test('cover overdue work, failed deliveries, denied calls, throttled tables and slow requests', () => {
    for (const id of [
      'OverdueAlarm',
      'FailedDeliveriesAlarm',
      'DeniedAlarm',
      'TablesReadThrottlesAlarm',
      'TablesWriteThrottlesAlarm',
      'ApiErrorsAlarm',
      'ApiSlowAlarm',
      'FerryhookWorkerMissingAlarm',
      'FerryhookWorkerLateAlarm',
    ])
      expect(template.Resources).toHaveProperty(id)
    expect(fargate.Resources).toHaveProperty('WorkerMissingAlarm')
  })
})
