import { tableStatements } from '@strongroom/kit/iam-policy'
import { createTableInput } from '@strongroom/kit/table'
import { verifyTables } from '@strongroom/kit/tables'
import { describe, expect, test } from 'vitest'
import { dataModel } from '../../src/data-model.ts'
import { EVENT_SHARDS, eventShard } from '../../src/security/item.ts'
import { formBridgeTable, TTL_SECONDS } from '../../src/tables.ts'
import { onEveryStore } from '../support/on-every-store.ts'
import { newHash, times } from '../support/test-stores.ts'

describe('the table', () => {
  test('has the name, the keys, both indexes, on-demand billing and ttl as its time to live', () => {
    const key = (hash: string, range: string) => [
      { AttributeName: hash, KeyType: 'HASH' },
      { AttributeName: range, KeyType: 'RANGE' },
    ]
    expect(createTableInput(formBridgeTable)).toMatchObject({
      TableName: 'form-bridge-plugin-auth',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: key('PK', 'SK'),
      GlobalSecondaryIndexes: [
        { IndexName: 'GSI1', KeySchema: key('GSI1PK', 'GSI1SK') },
        { IndexName: 'GSI2', KeySchema: key('GSI2PK', 'GSI2SK') },
      ],
    })
    const names = ['PK', 'SK', 'GSI1PK', 'GSI1SK', 'GSI2PK', 'GSI2SK']
    expect(createTableInput(formBridgeTable).AttributeDefinitions).toEqual(
      names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    )
    expect(formBridgeTable).toMatchObject({ ttl: 'ttl', pointInTimeRecovery: true })
  })

  test('has no hash, no secret and nothing that changes with a request in GSI2', () => {
    const { projection } = formBridgeTable.indexes?.GSI2 ?? {}
    const included = typeof projection === 'object' ? projection.include : []
    expect(included.filter((name) => /hash|secret|temp_key|client_ip|email/.test(name))).toEqual([
      'contact_email',
    ])
    for (const name of ['last_seen', 'request_count', 'rate_limit_remaining', 'last_used']) {
      expect(included).not.toContain(name)
    }
  })

  test('has separate partitions for each kind of data', () => {
    const shared = [
      'SITE#{domain}',
      'RATE#{scope}#{id}',
      'UPDATE_CHECK#{site_id}',
      'AGENCY#{agency_id}',
      'SITEID#{site_id}',
    ]
    const templates = dataModel.entities.map(({ keys }) => keys.PK ?? '')
    const once = templates.filter((template) => !shared.includes(template))
    expect(new Set(once).size).toBe(once.length)
    const prefixes = [...new Set(templates)].map((template) => template.split('#')[0])
    expect(new Set(prefixes).size).toBe(prefixes.length)
  })

  test('has the lifetimes of the specification for each item', () => {
    expect(TTL_SECONDS).toMatchObject({
      registration: 3600,
      rateBucket: 86_400,
      registrationRateBucket: 300,
      validation: 86_400,
      versionCache: 7200,
      securityEvent: 2_592_000,
      updateCheck: 7_776_000,
      abuse: { low: 86_400, medium: 604_800, high: 2_592_000, critical: 7_776_000 },
    })
  })

  test('spreads the security events of one type and day evenly over its shards', () => {
    const counts = times(EVENT_SHARDS, () => 0)
    for (let number = 0; number < 4000; number++) {
      const shard = eventShard(`TIME#2100-01-01T00:00:00.000Z#${newHash()}`)
      counts[shard] = (counts[shard] ?? 0) + 1
    }
    expect(Math.min(...counts)).toBeGreaterThan(350)
  })
})

describe('the data model', () => {
  test('has a template for every key attribute of an entity, and for no other', () => {
    for (const { name, keys, schema } of dataModel.entities) {
      const attributes = Object.keys(schema.shape).filter((each) =>
        /^(PK|SK|GSI\d[PS]K)$/.test(each),
      )
      expect(Object.keys(keys).toSorted(), name).toEqual(attributes.toSorted())
    }
  })

  test('has a lifetime for every temporary item', () => {
    for (const { name, schema, lifetime } of dataModel.entities) {
      expect(lifetime !== undefined, name).toBe('ttl' in schema.shape)
    }
  })
})

describe('a deployable function', () => {
  const actionsOn = (name: string, partition: string) =>
    dataModel.functions
      .filter((each) => each.name === name)
      .flatMap(({ allows }) => allows)
      .filter(({ leadingKeys = ['*'] }) =>
        leadingKeys.some((like) => partition.startsWith(like.replace('*', ''))),
      )
      .flatMap(({ actions }) => actions)

  test('can access only the partitions that it needs, and cannot scan', () => {
    for (const { name, allows } of dataModel.functions) {
      expect(
        allows.flatMap(({ actions }) => actions),
        name,
      ).not.toContain('Scan')
      const unheld = allows.filter(({ leadingKeys }) => leadingKeys === undefined)
      // The lists of GSI2 have no secrets.
      expect(
        unheld.flatMap(({ actions }) => actions),
        name,
      ).toEqual([])
      expect(
        unheld.flatMap(({ indexes = [] }) => indexes).filter((index) => index !== 'GSI2'),
        name,
      ).toEqual([])
    }
  })

  test('for update checks cannot change credentials, and one for validations cannot read keys', () => {
    expect(actionsOn('updates', 'SITE#example.com')).toEqual(['GetItem'])
    expect(actionsOn('validate', 'API#00')).toEqual([])
    expect(actionsOn('register', 'API#00')).toEqual([])
    expect(actionsOn('agency', 'SITE#example.com')).toEqual(['GetItem', 'UpdateItem'])
    expect(actionsOn('agency', 'API#00')).toEqual([])
    expect(actionsOn('publish', 'SITE#example.com')).toEqual([])
    expect(actionsOn('operator', 'API#00')).toEqual([])
    expect(actionsOn('diagnosis', 'API#00')).toEqual(['GetItem'])
    expect(actionsOn('operator', 'SITE#example.com')).not.toContain('Query')
  })

  test('has a policy within the size limit of AWS', () => {
    const arn = 'arn:aws:dynamodb:eu-central-1:111122223333:table/form-bridge-plugin-auth'
    const policies = dataModel.functions.map(({ allows }) =>
      tableStatements(allows, (_table, index) => (index ? `${arn}/index/${index}` : arn)),
    )
    expect(policies.every((statements) => statements.length > 0)).toBe(true)
    for (const policy of policies) expect(JSON.stringify(policy).length).toBeLessThan(6144)
  })
})

onEveryStore('the declared table', (newStores) => {
  test('matches the table that the store created', async () => {
    const [check] = await verifyTables(newStores().db, [formBridgeTable])
    // DynamoDB Local has no point-in-time recovery.
    const differences = check?.differences.filter((each) => !/recovery/i.test(each))
    expect(differences).toEqual([])
  })
})
